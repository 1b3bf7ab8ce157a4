import { describe, expect, it, vi } from 'vitest'
import type { MarkedRelease, Reservation } from '../../lib/promotion/reservations.ts'
import { resolve } from '../support/maintenance/resolving.ts'
import { createPorts, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports, WORKSPACE } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const PLAIN = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }

describe('resolveWorkspace, of a release that died', () => {
  /** A reservation about to be given back, fenced, and its release. */
  async function undone(ports: Ports) {
    const one = await ports.run(['take', 'open', 'unmark', 'copy'])
    await ports.documents.fence(one, signal)
    return { one, release: { ...newRelease(one, 'undo', { leaseExpiresAtMs: one.leaseExpiresAtMs }), markedIn: 0 } }
  }
  /** A document, and the release of its deletion. */
  async function deleted(ports: Ports) {
    const one = ports.begin()
    await ports.addDocument(one)
    return { one, release: { ...newRelease(one, 'deletion', { leaseExpiresAtMs: one.leaseExpiresAtMs }), markedIn: 0 } }
  }
  type Doing = (ports: Ports, release: MarkedRelease, one: Reservation) => Promise<unknown>
  const note: Doing = ({ reservations }, _, one) => reservations.note('deletion', one, signal)
  const schedule: Doing = ({ ledger }, _, one) => ledger.schedule(one, signal)
  const retire: Doing = ({ documents }, of) => documents.retire(of, signal)
  const discard: Doing = ({ objects }, _, one) => objects.discard(one.objectKey, signal)
  const mark: Doing = async ({ ledger }, release) => Object.assign(release, await ledger.mark(release, signal))
  const close: Doing = ({ reservations, documents }, of) =>
    (of.purpose === 'undo' ? reservations : documents).close(of, signal)
  const release: Doing = ({ ledger }, of) => ledger.release(of, signal)
  const remove: Doing = ({ reservations }, _, one) => reservations.remove(one, signal)
  const finish: Doing = ({ documents }, of) => documents.finish(of, signal)
  const removeNote: Doing = ({ reservations }, _, one) => reservations.removeNote('deletion', one, signal)

  it.each<[string, Doing[]]>([
    ['discarding its object', []],
    ['marking it', [mark]],
    ['closing the reservation', [mark, close]],
    ['giving the bytes back', [mark, close, release]],
    ['removing the reservation', [mark, close, release, remove]],
  ])('fixed: of an undo, after %s: it is finished once, and nothing is undone again', async (_, steps) => {
    const ports = createPorts()
    await ports.addDocument()
    const undo = await undone(ports)
    for (const step of [discard, ...steps]) await step(ports, undo.release, undo.one)
    ports.pass()
    const marks = vi.spyOn(ports.ledger, 'mark')
    const isOver = steps.includes(release)
    const report = await resolve(ports)
    expect(report).toMatchObject({ failed: 0, isComplete: true, released: isOver ? 0 : 1 })
    expect(marks).toHaveBeenCalledTimes(steps.length === 0 ? 1 : 0)
    // S3 may still be at work only for whoever was not seen to discard the object.
    expect(ports.lateCopies()).toEqual(steps.length === 0 ? [undo.one.attemptId] : [])
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  const DELETION = [note, schedule, retire, discard, mark, close, release, finish, removeNote]
  it.each(DELETION.map((_, done) => ({ done: done + 1 })).slice(2))(
    'of a deletion, after its first $done steps: the bytes are given back once',
    async ({ done }) => {
      const ports = createPorts()
      await ports.addDocument()
      const { one, release: deletion } = await deleted(ports)
      for (const step of DELETION.slice(0, done)) await step(ports, deletion, one)
      ports.pass()
      expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
      expect(ports.state()).toEqual(ONE_DOCUMENT)
      expect(await ports.documents.findEvenDeleted(WORKSPACE, one.documentId, signal)).toMatchObject({
        isFinished: true,
      })
    },
  )

  it('of a deletion that died before the document was retired, is forgotten: whoever asked for it was told so', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const { one, release: deletion } = await deleted(ports)
    const before = ports.state()
    await note(ports, deletion, one)
    await schedule(ports, deletion, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1, released: 0 })
    expect(ports.state()).toEqual(before)
  })

  it('of a deletion that was noted anew meanwhile, stays', async () => {
    const ports = createPorts()
    const { one, release: deletion } = await deleted(ports)
    await note(ports, deletion, one)
    ports.pass()
    const anew = { ...one, leaseExpiresAtMs: ports.clock.nowMs + LEASE_MS }
    const { find } = ports.documents
    ports.deps.documents.find = async (...args) => {
      await ports.reservations.note('deletion', anew, signal)
      return find(...args)
    }
    await resolve(ports)
    expect([...ports.reservations.items.values()]).toMatchObject([
      { purpose: 'deletion', leaseExpiresAtMs: anew.leaseExpiresAtMs },
    ])
  })

  it('removes the marker of a deletion that came too late', async () => {
    const ports = createPorts()
    const { one, release: first } = await deleted(ports)
    await ports.addDocument()
    const second = { ...newRelease(one, 'deletion', { leaseExpiresAtMs: one.leaseExpiresAtMs }), markedIn: 0 }
    for (const step of [retire, discard, mark]) await step(ports, first, one)
    await mark(ports, second, one)
    for (const step of [close, release, finish]) await step(ports, first, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1, released: 0 })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('removes the marker of an undo whose reservation another undo closed, and finishes that one', async () => {
    const ports = createPorts()
    const { one, release: first } = await undone(ports)
    await discard(ports, first, one)
    const second = { ...newRelease(one, 'undo', { leaseExpiresAtMs: one.leaseExpiresAtMs }), markedIn: 0 }
    for (const each of [first, second]) await mark(ports, each, one)
    await close(ports, first, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1, released: 1, failed: 0 })
    expect(ports.state()).toEqual(NOTHING)
  })

  it('leaves alone a release whose lease still runs, and the reservation it closed', async () => {
    const ports = createPorts()
    const { one, release: undo } = await undone(ports)
    const running = { ...undo, leaseExpiresAtMs: undo.leaseExpiresAtMs + 1 }
    for (const step of [discard, mark, close]) await step(ports, running, one)
    ports.pass()
    expect(await resolve(ports)).toEqual(PLAIN)
    expect(ports.state()).toMatchObject({ used: 100, markers: 1, reservations: 1 })
    ports.pass(1)
    await resolve(ports)
    expect(ports.state()).toEqual(NOTHING)
  })

  it('keeps the proof of a closing whose marker it has not seen yet', async () => {
    const ports = createPorts()
    const { one, release: undo } = await undone(ports)
    ports.pass()
    const list = ports.reservations.list.bind(ports.reservations)
    vi.spyOn(ports.reservations, 'list').mockImplementationOnce(async function* (...args) {
      // Between the reading of the ledger and that of the reservations.
      await discard(ports, undo, one)
      const later = { ...undo, leaseExpiresAtMs: one.leaseExpiresAtMs + 1 }
      for (const step of [mark, close]) await step(ports, later, one)
      yield* list(...args)
    })
    await resolve(ports)
    expect(ports.state()).toMatchObject({ used: 100, markers: 1, reservations: 1 })
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(NOTHING)
  })
})
