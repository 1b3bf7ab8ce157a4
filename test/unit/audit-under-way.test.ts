import { describe, expect, it } from 'vitest'
import type { MarkedRelease, Release, Reservation } from '../../lib/promotion/reservations.ts'
import { interruptedAt } from '../support/interrupted.ts'
import { runAudit } from '../support/maintenance/run-audit.ts'
import { ALL_STEPS, createPorts, LEASE_MS, ONE_DOCUMENT, type Ports, type Step, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
/** Until then a leftover is the resolver's. */
const OVERDUE_MS = 600_000

const remaining = ({ ledger }: Ports) => ledger.workspaces.get(WORKSPACE)?.remainingBytes

function stepsOf(ports: Ports, one: Reservation, purpose: Release['purpose']): Record<string, () => Promise<unknown>> {
  const { ledger, reservations, documents, objects } = ports
  const release = newRelease(one, purpose) as MarkedRelease
  return {
    note: () => reservations.note('deletion', one, signal),
    schedule: () => ledger.schedule(one, signal),
    retire: () => documents.retire(one, signal),
    discard: () => objects.discard(one.objectKey, signal),
    mark: async () => Object.assign(release, await ledger.mark(release, signal)),
    close: () => (purpose === 'undo' ? reservations : documents).close(release, signal),
    release: () => ledger.release(release, signal),
    remove: () => reservations.remove(one, signal),
    finish: () => documents.finish(release, signal),
    removeNote: () => reservations.removeNote('deletion', one, signal),
  }
}

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

  const UNDO = ['mark', 'close', 'release', 'remove']
  const DELETION = ['note', 'schedule', 'retire', 'discard', 'mark', 'close', 'release', 'finish', 'removeNote']
  it.each<{ purpose: Release['purpose']; steps: string[] }>([
    ...[...DELETION.keys(), 9].map((done) => ({ purpose: 'deletion' as const, steps: DELETION.slice(0, done) })),
    ...UNDO.map((_, done) => ({ purpose: 'undo' as const, steps: UNDO.slice(0, done + 1) })),
  ])(
    'fixed: takes the $purpose of an attempt for no finding after $steps, nor the rest between any two of its reads',
    async ({ purpose, steps }) => {
      const all = purpose === 'undo' ? UNDO : DELETION
      for (let at = 0; ; at++) {
        const ports = createPorts()
        await ports.addDocument()
        const one = ports.begin()
        await ports.run(purpose === 'undo' ? ['take', 'open', 'unmark'] : [...ALL_STEPS, 'settle'], one)
        const does = stepsOf(ports, one, purpose)
        for (const step of steps) await does[step]?.()
        const { deps, calls } = interruptedAt(at, ports.deps, async () => {
          for (const step of all.slice(steps.length)) await does[step]?.()
        })
        const { findings, notAddedUp } = await runAudit({ deps }, true)
        expect([at, findings, notAddedUp]).toEqual([at, [], []])
        expect([at, ports.state()]).toEqual([at, calls() > at ? ONE_DOCUMENT : ports.state()])
        if (calls() <= at) return
      }
    },
  )

  it.each([true, false])(
    'finds a deletion that nobody is due to finish, and finishes it; noted: %s',
    async (isNoted) => {
      const ports = createPorts()
      await ports.addDocument()
      const one = ports.begin()
      const { documentId, attemptId } = await ports.addDocument(one)
      if (isNoted) await ports.run(['deletion'], one)
      await ports.documents.retire(one, signal)
      ports.pass(LEASE_MS + OVERDUE_MS - 1)
      const expected = { kind: 'expired_reservation', purpose: 'deletion', attemptId, sizeBytes: 100 }
      expect((await runAudit(ports)).findings).toMatchObject(isNoted ? [] : [expected])
      ports.pass(1)
      expect((await runAudit(ports, true)).findings).toMatchObject([{ ...expected, isRepaired: true }])
      expect(ports.state()).toEqual(ONE_DOCUMENT)
      expect(await ports.documents.findEvenDeleted(WORKSPACE, documentId, signal)).toMatchObject({ isFinished: true })
    },
  )

  it('fixed: resolves what is overdue, and leaves to the resolver what ended in the last ten minutes', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const dead = await ports.run(['take'])
    ports.pass(LEASE_MS + 1)
    await ports.run(['take'])
    ports.pass(OVERDUE_MS - 1)
    const findings = [{ kind: 'expired_reservation', purpose: 'taking', attemptId: dead.attemptId, isRepaired: true }]
    expect((await runAudit(ports, true)).findings).toMatchObject(findings)
    expect(ports.state()).toMatchObject({ used: 200, markers: 1 })
  })

  it('counts the reservation of a twin beside the document it is too late for', async () => {
    const ports = createPorts()
    const { documentId } = await ports.addDocument()
    await ports.run(['take', 'open', 'unmark'], ports.begin({ documentId }))
    expect((await runAudit(ports, true)).findings).toEqual([])
    expect(remaining(ports)).toBe(800)
  })
})
