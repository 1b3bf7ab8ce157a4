import { describe, expect, it, vi } from 'vitest'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import type { MarkedRelease, Reservation } from '../../lib/promotion/reservations.ts'
import { resolve } from '../support/maintenance/resolving.ts'
import {
  ALL_STEPS,
  createPorts,
  LATE_COPY_MS,
  LEASE_MS,
  NOTHING,
  ONE_DOCUMENT,
  type Ports,
  type Step,
  WORKSPACE,
} from '../support/ports.ts'
import { newDocument, newRelease } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const PLAIN = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }

describe('resolveWorkspace, of a promotion that died', () => {
  it.each<[string, Step[]]>([
    ['took its bytes', ['take']],
    ['had its reservation opened beside its copy', ['take', 'open']],
    ['copied beside an opening that never arrived', ['take', 'copy']],
    ['copied beside its reservation', ['take', 'open', 'copy']],
    ['held its bytes by the reservation alone', ['take', 'open', 'unmark']],
    ['had copied', ['take', 'open', 'unmark', 'copy']],
    ['had claimed and taken its bytes', ['claim', 'take']],
    ['had claimed, and copied beside an opening that never arrived', ['claim', 'take', 'copy']],
    ['had copied beside its reservation, in place of its claim', ['claim', 'take', 'open', 'copy']],
    ['had been forestalled', ['take', 'copy', 'forestall']],
    ['noted a late copy, before anything else was taken back', ['take', 'open', 'unmark', 'copy', 'late_copy']],
  ])('%s: no object, no bytes, and no way back', async (_, steps) => {
    const ports = createPorts()
    const kept = await ports.addDocument()
    const dead = await ports.run(steps)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
    expect(ports.state()).toMatchObject({ used: 100, markers: 0, documents: 1 })
    // It can neither open a reservation nor record a document.
    const isClaimed = steps.includes('claim')
    if (!steps.includes('open')) expect(await ports.reservations.open(dead, isClaimed, signal)).toBe('refused')
    // Its copy may still arrive.
    if (!steps.includes('late_copy')) ports.putObject(dead)
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(ports.objects.documents.has(kept.objectKey)).toBe(true)
    if (steps.includes('open')) expect(await ports.documents.record(newDocument(dead), signal)).toBe('fenced')
  })

  it.each<[string, readonly Step[]]>([
    ['marker and reservation still stand', ['take', 'open', 'copy', 'record']],
    ['the reservation still stands', ALL_STEPS],
  ])('after it had recorded, while %s: the document stays, and stays counted', async (_, steps) => {
    const ports = createPorts()
    await ports.run(steps)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 0, failed: 0 })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it.each<[string, Step[]]>([
    ['a taking', ['take']],
    ['a reservation', ['take', 'open', 'unmark']],
    ['a claim', ['claim']],
    ['a forestalled one', ['take', 'forestall', 'unmark']],
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
    expect(await resolve(ports)).toEqual(PLAIN)
    expect(ports.state()).toEqual(before)
  })

  it('by key whose claim is gone: it gives the bytes back, and nothing of it can be opened any more', async () => {
    const ports = createPorts()
    const documentId = documentIdOfKey(WORKSPACE, 'key')
    const dead = await ports.run(['take'], ports.begin({ documentId }))
    const twin = await ports.addDocument(ports.begin({ documentId }))
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 1 })
    expect(await ports.reservations.open(dead, true, signal)).toBe('refused')
    await ports.resolveAll()
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    expect(ports.objects.documents.has(twin.objectKey)).toBe(true)
  })

  it('leaves the object of a document alone, whatever a note or a claim says', async () => {
    const ports = createPorts()
    for (const what of ['late_copy', 'forestall', 'claim'] as const) {
      const leaseExpiresAtMs = ports.clock.nowMs - LATE_COPY_MS
      await ports.run([what], ports.begin({ ...(await ports.addDocument()), leaseExpiresAtMs }))
    }
    const before = ports.state()
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 3, released: 0, failed: 0 })
    expect(ports.state()).toEqual({ ...before, reservations: 0 })
    expect(before).toMatchObject({ used: 300, documents: 3, objects: 3 })
  })

  it('removes an object that S3 finished after its promotion was given up', async () => {
    const ports = createPorts()
    await ports.addDocument()
    const late = await ports.run(['late_copy', 'copy'])
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1 })
    expect(await ports.documents.record(newDocument(late), signal)).toBe('fenced')
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})

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
  it.each(DELETION.map((_, done) => ({ done: done + 1 })).slice(1))(
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

  it.each<[string, number, boolean]>([
    ['is carried out until it failed a quarter of an hour ago', LATE_COPY_MS - 1, false],
    ['is forgotten then: whoever asked for it was told so', LATE_COPY_MS, true],
  ])('of a deletion that died before the document was retired, %s', async (_, agoMs, isForgotten) => {
    const ports = createPorts()
    await ports.addDocument()
    const { one, release: deletion } = await deleted(ports)
    await note(ports, deletion, one)
    // It was never scheduled: whatever is next to be looked at finds it.
    ports.pass(LEASE_MS + agoMs)
    expect(await resolve(ports)).toMatchObject(isForgotten ? { settled: 1, released: 0 } : { settled: 0, released: 1 })
    expect(ports.state()).toMatchObject({
      documents: isForgotten ? 2 : 1,
      objects: isForgotten ? 2 : 1,
      reservations: 0,
    })
    expect(ports.state().used).toBe(isForgotten ? 200 : 100)
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
