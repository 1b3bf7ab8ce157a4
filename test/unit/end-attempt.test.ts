import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import { type Progress, undoOrLeave } from '../../lib/promotion/end-attempt.ts'
import { createPorts, LATE_COPY_MS, NOTHING, ONE_DOCUMENT, type Ports, type Step } from '../support/ports.ts'
import { newDocument } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
type Method = (...args: unknown[]) => Promise<unknown>
const LOST = new ServiceError('service_unavailable', { isUnanswered: true })

/** Undoes an attempt that took these steps and knows so much of them. */
async function undoAfter(ports: Ports, steps: readonly Step[], knows: Partial<Progress>) {
  const one = await ports.run(steps)
  const unknown = { isTaken: true, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) } as const
  const progress: Progress = { ...unknown, ...knows }
  return { one, outcome: await undoOrLeave(one, progress, ports.request(), ports.deps) }
}
describe('undo', () => {
  it.each<[string, readonly Step[], Partial<Progress>]>([
    ['its bytes were taken', ['take'], {}],
    ['its bytes may have been taken, and were not', [], {}],
    ['it had claimed', ['claim'], { isTaken: false, reservation: 'claimed' }],
    ['it may have claimed, and had not', [], { isTaken: false, reservation: 'claimed' }],
    ['it had claimed and taken', ['claim', 'take'], { reservation: 'claimed' }],
    ['its opening was refused beside its copy', ['take', 'copy'], { copy: 'answered' }],
    ['the same, with a claim', ['claim', 'take', 'copy'], { reservation: 'claimed', copy: 'answered' }],
    ['its reservation was open', ['take', 'open'], { reservation: 'open' }],
    ['it was copied', ['take', 'open', 'unmark', 'copy'], { reservation: 'open', copy: 'answered' }],
    ['it was copied and its marker stood', ['take', 'open', 'copy'], { reservation: 'open', copy: 'answered' }],
  ])('gives back at once what it took when %s', async (_, steps, knows) => {
    const ports = createPorts()
    await ports.addDocument()
    expect((await undoAfter(ports, steps, knows)).outcome).toBe('undone')
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(ports.lateCopies()).toEqual([])
  })

  it('has nothing to do where nothing was begun', async () => {
    const ports = createPorts()
    const { outcome } = await undoAfter(ports, [], { isTaken: false })
    expect([outcome, ports.ledger.workspaces.size]).toEqual(['undone', 0])
  })

  it.each<[string, Step[], Progress['copy']]>([
    ['had arrived', ['take', 'open'], 'none'],
    ['had arrived beside its copy', ['take', 'open', 'copy'], 'answered'],
    ['had arrived in the place of its claim', ['claim', 'take', 'open', 'copy'], 'unanswered'],
    ['may yet arrive', ['take'], 'none'],
    ['may yet arrive beside its copy', ['take', 'copy'], 'answered'],
    ['may yet arrive in the place of its claim', ['claim', 'take', 'copy'], 'unanswered'],
  ])('leaves an opening that was not answered and %s to the resolver, and touches nothing', async (_, steps, copy) => {
    const ports = createPorts()
    await ports.addDocument()
    const { one, outcome } = await undoAfter(ports, steps, { reservation: 'unknown', copy })
    expect(outcome).toBe('left_to_resolver')
    expect(ports.state().used).toBe(200)
    expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', attempt_id: one.attemptId }))
    await ports.resolveAll()
    expect(await ports.reservations.open(one, steps.includes('claim'), signal)).toBe(
      // Without a claim nothing is in its way by then: what is sent arrives sooner.
      steps.includes('claim') ? 'refused' : 'opened',
    )
    await ports.reservations.remove(one, signal)
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('finds that its record has arrived: nothing is taken back', async () => {
    const ports = createPorts()
    const knows = { reservation: 'open', copy: 'answered' } as const
    const { outcome } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy', 'record'], knows)
    expect(outcome).toBe('recorded')
    expect(ports.state()).toEqual({ ...ONE_DOCUMENT, reservations: 1 })
  })

  it('keeps out a record that may yet arrive', async () => {
    const ports = createPorts()
    const { one } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy'], {
      reservation: 'open',
      copy: 'answered',
    })
    expect(await ports.documents.record(newDocument(one), signal)).toBe('fenced')
  })

  it.each<[string, readonly Step[], Progress['reservation']]>([
    ['its reservation was open', ['take', 'open', 'unmark'], 'open'],
    ['its opening was refused', ['take'], 'none'],
  ])('has the object of a copy removed that arrives late, when %s', async (_, steps, reservation) => {
    const ports = createPorts()
    const { one, outcome } = await undoAfter(ports, steps, { reservation, copy: 'unanswered' })
    expect(outcome).toBe('undone')
    expect(ports.state()).toMatchObject({ used: 0, markers: 0 })
    expect(ports.lateCopies()).toEqual([one.attemptId])
    ports.pass(LATE_COPY_MS - 1)
    ports.putObject(one)
    await ports.resolveAll()
    expect(ports.state()).toEqual(NOTHING)
  })

  it('notes no late copy of the object of a document that turns out to be recorded', async () => {
    const ports = createPorts()
    const knows = { reservation: 'open', copy: 'unanswered' } as const
    const { outcome } = await undoAfter(ports, ['take', 'open', 'unmark', 'copy', 'record'], knows)
    expect(outcome).toBe('recorded')
    expect(ports.lateCopies()).toEqual([])
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('does nothing until the write that removes its marker has ended', async () => {
    const ports = createPorts()
    const one = await ports.run(['take', 'open', 'copy'])
    let end = (_isUnmarked: boolean) => {}
    const unmarked = new Promise<boolean>((resolve) => {
      end = resolve
    })
    const fence = vi.spyOn(ports.documents, 'fence')
    const undoing = undoOrLeave(
      one,
      { isTaken: true, reservation: 'open', copy: 'answered', unmarked },
      ports.request(),
      ports.deps,
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(fence).not.toHaveBeenCalled()
    end(true)
    expect(await undoing).toBe('undone')
    expect(ports.state()).toEqual(NOTHING)
  })

  const OPEN = ['fence', 'note', 'unmark', 'discard', 'mark', 'close', 'release', 'remove']
  const CLAIMED = ['note', 'release', 'remove', 'discard', 'removeNote']
  it.each<{ reservation: Progress['reservation']; copy: Progress['copy']; method: string }>([
    ...OPEN.map((method) => ({ reservation: 'open' as const, copy: 'unanswered' as const, method })),
    ...CLAIMED.map((method) => ({ reservation: 'claimed' as const, copy: 'answered' as const, method })),
  ])(
    'leaves the rest of what was $reservation to the resolver when $method fails, before or after it was applied',
    async ({ reservation, copy, method }) => {
      for (const when of ['before', 'after']) {
        const ports = createPorts()
        await ports.addDocument()
        const steps = reservation === 'open' ? (['open', 'unmark', 'copy'] as const) : (['copy'] as const)
        const one = await ports.run(['claim', 'take', ...steps])
        const stores = [ports.ledger, ports.reservations, ports.documents, ports.objects]
        const target = stores.find((store) => method in store) as unknown as Record<string, Method>
        const original = target[method]?.bind(target)
        const failing = vi.spyOn(target, method).mockImplementation(async (...args) => {
          if (when === 'after') await original?.(...args)
          throw LOST
        })
        const progress: Progress = { isTaken: true, reservation, copy, unmarked: Promise.resolve(true) }
        const outcome = await undoOrLeave(one, progress, ports.request(), ports.deps)
        expect([when, outcome]).toEqual([when, 'left_to_resolver'])
        expect(ports.logged).toContainEqual(expect.objectContaining({ level: 'error', error: LOST }))
        failing.mockRestore()
        await ports.resolveAll()
        expect([when, ports.state()]).toEqual([when, ONE_DOCUMENT])
      }
    },
  )
})
