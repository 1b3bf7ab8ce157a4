import { describe, expect, it } from 'vitest'
import type { Release } from '../../lib/promotion/reservations.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { ALL_STEPS, createPorts, LEASE_MS, type Ports, type Step, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
/** Until then a leftover is the resolver's. */
const OVERDUE_MS = 600_000

const remaining = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.remainingBytes

describe('audit, of what is under way', () => {
  it('finds nothing wrong where nothing is, and says what it looked at', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.addDocument()
    expect(await runAudit(ports)).toEqual({
      report: {
        workspaces: 1,
        documents: 2,
        documentBytes: 200,
        findings: 0,
        repaired: 0,
        notAddedUp: 0,
        isComplete: true,
      },
      findings: [],
      notAddedUp: [],
    })
  })

  it.each<{ steps: readonly Step[] }>([
    { steps: ['take'] },
    { steps: ['take', 'copy'] },
    { steps: ['take', 'open'] },
    { steps: ['take', 'open', 'copy'] },
    { steps: ['take', 'open', 'unmark'] },
    { steps: ['take', 'open', 'unmark', 'copy'] },
    { steps: ['take', 'open', 'copy', 'record'] },
    { steps: ALL_STEPS },
    { steps: ['take', 'forestall'] },
    { steps: ['take', 'copy', 'forestall'] },
    { steps: ['late_copy', 'copy'] },
  ])('takes a promotion for no finding after $steps', async ({ steps }) => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(steps)
    const before = ports.state()
    ports.pass(LEASE_MS + OVERDUE_MS - 1)
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(ports.state()).toEqual(before)
  })

  it.each<{ purpose: Release['purpose']; steps: string[] }>([
    { purpose: 'deletion', steps: ['mark'] },
    { purpose: 'deletion', steps: ['mark', 'retire'] },
    { purpose: 'deletion', steps: ['mark', 'retire', 'discard'] },
    { purpose: 'deletion', steps: ['mark', 'retire', 'discard', 'empty'] },
    { purpose: 'deletion', steps: ['mark', 'retire', 'discard', 'empty', 'finish'] },
    { purpose: 'undo', steps: ['mark'] },
    { purpose: 'undo', steps: ['mark', 'close'] },
    { purpose: 'undo', steps: ['mark', 'close', 'release'] },
  ])('takes the $purpose of an attempt for no finding after $steps', async ({ purpose, steps }) => {
    const ports = createPorts()
    await ports.addDocument()
    const one = ports.begin()
    await ports.run(purpose === 'undo' ? ['take', 'open', 'unmark'] : [...ALL_STEPS, 'settle'], one)
    const release = newRelease(one, purpose)
    const does: Record<string, () => Promise<unknown>> = {
      mark: () => ports.ledger.mark(release, signal),
      retire: () => ports.documents.retire(release, signal),
      discard: () => ports.objects.discard(one.objectKey, signal),
      empty: () => ports.ledger.release(release, signal, { keepsMarker: true }),
      finish: () => ports.documents.finish(release, signal),
      close: () => ports.reservations.close(release, signal),
      release: () => ports.ledger.release(release, signal),
    }
    for (const step of steps) await does[step]?.()
    const before = ports.state()
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(ports.state()).toEqual(before)
  })

  it('takes a deletion that came second for what it is: it holds no bytes', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    await ports.addDocument()
    const [first, second] = [newRelease(document, 'deletion'), newRelease(document, 'deletion')]
    for (const each of [first, second]) await ports.ledger.mark(each, signal)
    await ports.documents.retire(first, signal)
    await ports.objects.discard(document.objectKey, signal)
    await ports.ledger.release(first, signal)
    await ports.documents.finish(first, signal)
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(remaining(ports)).toBe(900)
  })

  it('counts the reservation of a twin beside the document it is too late for', async () => {
    const ports = createPorts()
    const { documentId } = await ports.addDocument()
    await ports.run(['take', 'open', 'unmark'], ports.begin({ documentId }))
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(remaining(ports)).toBe(800)
  })
})
