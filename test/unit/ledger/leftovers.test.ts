import { describe, expect, it, vi } from 'vitest'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts, LATE_COPY_MS, LEASE_MS, type Ports, type Step, WORKSPACE } from '../../support/ports.ts'
import { newRelease } from '../../support/stores/ledger-values.ts'
import { dueAt, resolve } from '../../support/unit/resolving.ts'

const { signal } = new AbortController()
/** Makes the next list of reservations consist of one that cannot be read. */
const listsOnly = ({ reservations }: Ports, unreadable: UnreadableItemError) =>
  vi.spyOn(reservations, 'list').mockImplementationOnce(async function* (_workspaceId, _signal, onUnreadable) {
    onUnreadable?.(unreadable)
    yield* []
  })

describe('resolveWorkspace, of several leftovers', () => {
  it('counts and logs what each was and what became of it', async () => {
    const ports = createPorts()
    const taking = await ports.run(['take'])
    const recorded = await ports.run(['take', 'reserve', 'unmark', 'copy', 'record'])
    const marked = await ports.run(['take', 'reserve', 'copy', 'record'])
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ ended: 3, gaveBack: 1, failed: 0 })
    const resolved = ports.logged.filter(({ message }) => message === 'leftover resolved')
    const told = resolved.map(({ what, attempt_id, resolution }) => [what, attempt_id, resolution])
    const expected = [
      ['taking', taking.attemptId, 'gaveBack'],
      ['taking', marked.attemptId, 'ended'],
      ['promotion', recorded.attemptId, 'ended'],
      ['promotion', marked.attemptId, 'ended'],
    ]
    expect(told.toSorted()).toEqual(expected.toSorted())
    // The fence of the first stays for a while.
    expect(ports.state()).toEqual({ used: 200, markers: 0, reservations: 1, documents: 2, objects: 2 })
  })

  it('removes a reservation whose release is over, although another release is under way', async () => {
    const ports = createPorts()
    const closed = await ports.run(['take', 'reserve', 'unmark'])
    const undo = newRelease(closed, 'undo', { leaseExpiresAtMs: closed.leaseExpiresAtMs })
    await ports.ledger.mark(undo, signal)
    await ports.reservations.handOver(undo, signal)
    await ports.ledger.giveBack(undo, signal)
    const other = await ports.run(['take', 'reserve', 'unmark'], ports.begin({ leaseExpiresAtMs: 2e12 }))
    await ports.ledger.mark(newRelease(other, 'undo', { leaseExpiresAtMs: 2e12 }), signal)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ ended: 1, gaveBack: 0 })
    expect([...ports.reservations.items.values()].map(({ attemptId }) => attemptId)).toEqual([other.attemptId])
  })

  it('leaves the object of a document alone, whatever a note or a claim says', async () => {
    const ports = createPorts()
    for (const what of ['late_copy', 'fence', 'claim'] as const) {
      const leaseExpiresAtMs = ports.clock.nowMs - LATE_COPY_MS
      await ports.run([what], ports.begin({ ...(await ports.addDocument()), leaseExpiresAtMs }))
    }
    const before = ports.state()
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ ended: 3, gaveBack: 0, failed: 0 })
    expect(ports.state()).toEqual({ ...before, reservations: 0 })
    expect(before).toMatchObject({ used: 300, documents: 3, objects: 3 })
  })

  it('counts what failed as one of the most it resolves', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    await ports.run(['take', 'reserve', 'unmark'])
    ports.pass()
    vi.spyOn(ports.ledger, 'giveBack').mockRejectedValueOnce(new Error('down'))
    const report = await resolve(ports, { maxResolutions: 1 })
    expect(report).toMatchObject({ ended: 0, gaveBack: 0, failed: 1, isComplete: false })
  })

  it('logs why one was not resolved, and which reservation could not be read', async () => {
    const ports = createPorts()
    const { attemptId } = await ports.run(['take'])
    ports.pass()
    const [down, unreadable] = [new Error('down'), new UnreadableItemError('no attempt_id')]
    vi.spyOn(ports.ledger, 'giveBack').mockRejectedValueOnce(down)
    listsOnly(ports, unreadable)
    await resolve(ports)
    const common = { level: 'error', workspace_id: WORKSPACE }
    const left = { ...common, message: 'leftover not resolved, left to a later run', what: 'taking', error: down }
    expect(ports.logged).toContainEqual({ ...left, attempt_id: attemptId })
    expect(ports.logged).toContainEqual({
      ...common,
      message: 'unreadable item of Reservations skipped',
      error: unreadable,
    })
  })
})

describe('resolveWorkspace, of nothing that is over', () => {
  it.each<[string, Step[]]>([
    ['a taking', ['take']],
    ['a reservation', ['take', 'reserve', 'unmark']],
    ['a claim', ['claim']],
    ['a fence', ['take', 'fence', 'unmark']],
    ['a note of a late copy', ['late_copy']],
    ['a note of a deletion', ['deletion']],
  ])('leaves %s alone whose lease still runs', async (_, steps) => {
    const ports = createPorts()
    // So that it is due.
    await ports.addDocument()
    ports.pass(1)
    await ports.run(steps)
    const before = ports.state()
    ports.pass(LEASE_MS - 1)
    expect(await resolve(ports)).toMatchObject({ ended: 0, gaveBack: 0, failed: 0, isComplete: true })
    expect(ports.state()).toEqual(before)
  })

  it('reads once, claims nothing, and sets no time where none was due', async () => {
    const ports = createPorts()
    await ports.run(['take'])
    const read = vi.spyOn(ports.ledger, 'read')
    const reschedule = vi.spyOn(ports.ledger, 'reschedule')
    expect(await resolve(ports)).toMatchObject({ ended: 0, gaveBack: 0, isComplete: true })
    expect([read.mock.calls.length, reschedule.mock.calls.length]).toEqual([1, 0])
  })

  it('looks again where an unreadable reservation is all there is', async () => {
    const ports = createPorts()
    await ports.addDocument()
    ports.pass()
    listsOnly(ports, new UnreadableItemError('no attempt_id'))
    expect(await resolve(ports)).toMatchObject({ unreadable: 1 })
    expect(dueAt(ports)).toBe(ports.clock.nowMs + LEASE_MS)
  })
})

it('what the resolver begins has a lease until the run is over', async () => {
  const ports = createPorts()
  await ports.run(['take', 'reserve', 'unmark'])
  ports.pass()
  const mark = vi.spyOn(ports.ledger, 'mark')
  const leaseUntilMs = ports.clock.nowMs + 45_000
  expect(await resolve(ports, { leaseUntilMs })).toMatchObject({ gaveBack: 1 })
  expect(mark.mock.calls).toMatchObject([[{ leaseExpiresAtMs: leaseUntilMs }, expect.anything(), expect.anything()]])
})

it('the claim of a dead attempt stays until its late copy is noted', async () => {
  const ports = createPorts()
  await ports.run(['claim', 'take', 'copy'])
  ports.pass()
  ports.deps.reservations.note = () => Promise.reject(new Error('lost'))
  expect(await resolve(ports)).toMatchObject({ failed: 1, ended: 0 })
  expect([...ports.reservations.items.values()]).toMatchObject([{ purpose: 'claim' }])
})
