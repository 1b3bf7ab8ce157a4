import { describe, expect, it, vi } from 'vitest'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import { createRoom, requireRoom } from '../../../lib/promotion/room.ts'
import { ALL_STEPS, createPorts, LEASE_MS, WORKSPACE } from '../../support/ports.ts'

const EXCEEDED = 'storage_quota_exceeded'

/** A workspace with a quota of 1,000 bytes. */
function setUp() {
  const ports = createPorts()
  const request = ports.request()
  const room = createRoom(WORKSPACE, request, ports.deps)
  const require = (sizeBytes: number, twin?: Parameters<typeof requireRoom>[0]) =>
    requireRoom(twin, sizeBytes, { ...request, room }, ports.deps)
  const watch = () => ({ read: vi.spyOn(ports.ledger, 'read'), find: vi.spyOn(ports.documents, 'find') })
  return { ports, room, require, watch }
}

describe('requireRoom', () => {
  it('takes the default quota where there is no ledger yet, and makes none', async () => {
    const { ports, require } = setUp()
    await require(1000)
    const metadata = { quota_bytes: 1000, used_bytes: 0, file_bytes: 1001 }
    await expect(require(1001)).rejects.toMatchObject({ reason: EXCEEDED, metadata })
    expect(ports.stored.ledgers()).toEqual([])
  })

  it('refuses nothing beside a deletion under way of the same key, which may give the bytes back', async () => {
    const { ports, require } = setUp()
    const twin = ports.begin({ sizeBytes: 1000 })
    await ports.run([...ALL_STEPS, 'delete'], twin)
    await require(1, twin)
    await expect(require(1)).rejects.toMatchObject({ reason: EXCEEDED })
  })

  it('refuses beside what is gone', async () => {
    const { ports, require } = setUp()
    const gone = await ports.addDocument()
    await ports.deleteDocument(gone)
    await ports.addDocument(ports.begin({ sizeBytes: 1000 }))
    for (const twin of [gone, ports.begin()]) {
      await expect(require(1, twin)).rejects.toMatchObject({ reason: EXCEEDED })
    }
  })
})

describe('before a refusal, what dead processes left in the ledger', () => {
  it('is cleaned away and the ledger read again, once for many files; then what fits is let pass', async () => {
    const { ports, require, watch } = setUp()
    await ports.run(['hold'], ports.begin({ sizeBytes: 600 }))
    ports.pass()
    await ports.run(['begin', 'hold'], ports.begin({ sizeBytes: 400 }))
    const { read } = watch()
    const voided = vi.spyOn(ports.ledger, 'void')
    await Promise.all([require(600), require(500)])
    await expect(require(601)).rejects.toMatchObject({ reason: EXCEEDED, metadata: { used_bytes: 400 } })
    expect([read.mock.calls.length, voided.mock.calls.length]).toEqual([2, 1])
  })

  it('is left alone while it may be of a live process: nothing else is read', async () => {
    const { ports, require, watch } = setUp()
    await ports.run(['begin', 'hold'], ports.begin({ sizeBytes: 1000 }))
    ports.pass(LEASE_MS - 1)
    const { read, find } = watch()
    await expect(require(1)).rejects.toMatchObject({ reason: EXCEEDED })
    expect([read.mock.calls.length, find.mock.calls.length]).toEqual([1, 0])
  })

  it('keeps its bytes as long as its attempt is not undone, which waits for S3 and is left to the resolver', async () => {
    const { ports, require } = setUp()
    await ports.run(['begin', 'copy', 'hold'], ports.begin({ sizeBytes: 1000 }))
    ports.pass()
    const discard = vi.spyOn(ports.objects, 'discard')
    await expect(require(1)).rejects.toMatchObject({ reason: EXCEEDED, metadata: { used_bytes: 1000 } })
    expect(ports.state()).toMatchObject({ used: 1000, entries: 1 })
    expect(discard).not.toHaveBeenCalled()
  })
})

it('the room of a request knows the newest ledger, in whatever order it was seen', async () => {
  const ledger = (version: number) => ({ workspaceId: WORKSPACE, version }) as WorkspaceLedger
  const { ports, room } = setUp()
  const { promise, resolve } = Promise.withResolvers<WorkspaceLedger>()
  vi.spyOn(ports.ledger, 'read').mockReturnValueOnce(promise)
  void room.ledger()
  room.see(ledger(3))
  resolve(ledger(2))
  expect(await room.ledger()).toEqual(ledger(3))
  room.see(ledger(2))
  expect(await room.ledger()).toEqual(ledger(3))
  room.see(ledger(4))
  expect(await room.ledger()).toEqual(ledger(4))
})
