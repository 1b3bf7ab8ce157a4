import { describe, expect, it, vi } from 'vitest'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import type { Release, Reservation } from '../../lib/promotion/reservations.ts'
import { resolve } from '../support/maintenance/resolving.ts'
import {
  ALL_STEPS,
  createPorts,
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
    ['had forestalled an opening that was not answered', ['take', 'forestall']],
    ['had copied and forestalled that', ['take', 'copy', 'forestall']],
    ['watched for a late copy, before anything else was taken back', ['take', 'open', 'unmark', 'copy', 'late_copy']],
  ])('%s: no object, no bytes, and no way back', async (_, steps) => {
    const ports = createPorts()
    const kept = await ports.addDocument()
    const dead = await ports.run(steps)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
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
    ['a fence', ['take', 'forestall', 'unmark']],
    ['a watch', ['late_copy']],
  ])('leaves %s alone whose lease still runs', async (_, steps) => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(steps)
    const before = ports.state()
    ports.pass(LEASE_MS - 1)
    expect(await resolve(ports)).toEqual(PLAIN)
    expect(ports.state()).toEqual(before)
  })

  it('does not look for the object of a promotion by key where its attempt tells nothing', async () => {
    const ports = createPorts()
    const documentId = documentIdOfKey(WORKSPACE, 'key')
    await ports.run(['take'], ports.begin({ documentId }))
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ released: 1 })
    expect(ports.state()).toEqual(NOTHING)
  })

  it('removes an object that S3 finished after its promotion was given up', async () => {
    const ports = createPorts()
    await ports.addDocument()
    await ports.run(['late_copy', 'copy'])
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1 })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })
})

describe('resolveWorkspace, of a release that died', () => {
  /** A reservation about to be given back, fenced, and its release. */
  async function undone(ports: Ports) {
    const one = await ports.run(['take', 'open', 'unmark', 'copy'])
    await ports.documents.fence(one, signal)
    return { one, release: newRelease(one, 'undo', { leaseExpiresAtMs: one.leaseExpiresAtMs }) }
  }
  async function deleted(ports: Ports) {
    const one = ports.begin()
    await ports.addDocument(one)
    return { one, release: newRelease(one, 'deletion', { leaseExpiresAtMs: one.leaseExpiresAtMs }) }
  }
  type Doing = (ports: Ports, release: Release, one: Reservation) => Promise<unknown>
  const mark: Doing = ({ ledger }, release) => ledger.mark(release, signal)
  const close: Doing = ({ reservations }, release) => reservations.close(release, signal)
  const release: Doing = ({ ledger }, of) => ledger.release(of, signal)
  const remove: Doing = ({ reservations }, _, one) => reservations.remove(one, signal)
  const retire: Doing = ({ documents }, of) => documents.retire(of, signal)
  const discard: Doing = ({ objects }, _, one) => objects.discard(one.objectKey, signal)
  const empty: Doing = ({ ledger }, of) => ledger.release(of, signal, { keepsMarker: true })
  const finish: Doing = ({ documents }, of) => documents.finish(of, signal)
  const unmark: Doing = ({ ledger }, of) => ledger.unmark(of, signal)

  it.each<[string, Doing[]]>([
    ['marking it', [mark]],
    ['closing the reservation', [mark, close]],
    ['giving the bytes back', [mark, close, release]],
    ['removing the reservation', [mark, close, release, remove]],
  ])('of an undo, after %s: the bytes are given back once', async (_, steps) => {
    const ports = createPorts()
    await ports.addDocument()
    const undo = await undone(ports)
    for (const step of steps) await step(ports, undo.release, undo.one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
    expect(ports.state()).toMatchObject({ used: 100, markers: 0, reservations: 0, documents: 1 })
  })

  it.each<[string, Doing[]]>([
    ['marking it', [mark]],
    ['retiring the record', [mark, retire]],
    ['discarding the object', [mark, retire, discard]],
    ['giving the bytes back', [mark, retire, discard, empty]],
    ['finishing the tombstone', [mark, retire, discard, empty, finish]],
    ['all', [mark, retire, discard, empty, finish, unmark]],
  ])('of a deletion, after %s: the bytes are given back once, and the id is free again', async (_, steps) => {
    const ports = createPorts()
    await ports.addDocument()
    const { one, release: deletion } = await deleted(ports)
    for (const step of steps) await step(ports, deletion, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ failed: 0, isComplete: true })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
    const next = newDocument(ports.begin({ documentId: one.documentId }))
    expect(await ports.documents.record(next, signal)).toBe('recorded')
  })

  it('removes the marker of a deletion that came too late', async () => {
    const ports = createPorts()
    const { one, release: first } = await deleted(ports)
    await ports.addDocument()
    const second = newRelease(one, 'deletion', { leaseExpiresAtMs: one.leaseExpiresAtMs })
    for (const each of [first, second]) await mark(ports, each, one)
    for (const step of [retire, discard, empty, finish, unmark]) await step(ports, first, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1, released: 0 })
    expect(ports.state()).toEqual(ONE_DOCUMENT)
  })

  it('removes the marker of an undo whose reservation another undo closed', async () => {
    const ports = createPorts()
    const { one, release: first } = await undone(ports)
    const second = newRelease(one, 'undo', { leaseExpiresAtMs: one.leaseExpiresAtMs })
    for (const each of [first, second]) await mark(ports, each, one)
    await close(ports, first, one)
    ports.pass()
    expect(await resolve(ports)).toMatchObject({ settled: 1, released: 1 })
    expect(ports.state()).toEqual(NOTHING)
  })

  it('leaves alone a release whose lease still runs, and the reservation it closed', async () => {
    const ports = createPorts()
    const { one, release: undo } = await undone(ports)
    const running = { ...undo, leaseExpiresAtMs: undo.leaseExpiresAtMs + 1 }
    for (const step of [mark, close]) await step(ports, running, one)
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
      for (const step of [mark, close]) await step(ports, { ...undo, leaseExpiresAtMs: one.leaseExpiresAtMs + 1 }, one)
      yield* list(...args)
    })
    await resolve(ports)
    expect(ports.state()).toMatchObject({ used: 100, markers: 1, reservations: 1 })
    ports.pass()
    await resolve(ports)
    expect(ports.state()).toEqual(NOTHING)
  })
})
