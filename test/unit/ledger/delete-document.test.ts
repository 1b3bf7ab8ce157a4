import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { beforeNext } from '../../support/beside.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, LEASE_MS, NOTHING, WORKSPACE, withDocument } from '../../support/ports.ts'
import { resolve } from '../../support/unit/resolver-runs.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

const LOST = new ServiceError('service_unavailable', { isUnanswered: true })

describe('a deletion begins a refund of the bytes', () => {
  it('again under a fresh id when a try failed, though it was applied, each with a lease of its own; up to three times', async () => {
    const { ports, document } = await withDocument()
    const { beginRefund } = ports.ledger
    const beginning = vi.spyOn(ports.ledger, 'beginRefund').mockImplementation(async (...args) => {
      await beginRefund(...args)
      ports.pass(1000)
      throw LOST
    })
    const { nowMs } = ports.clock
    await expect(ports.deleteDocument(document)).rejects.toBe(LOST)
    const leases = ports.stored.ledgerOf(WORKSPACE)?.refunds.map(({ leaseEndsAtMs }) => leaseEndsAtMs)
    expect(leases?.toSorted()).toEqual([0, 1000, 2000].map((passedMs) => nowMs + passedMs + LEASE_MS))
    expect(ports.state()).toMatchObject({ used: 100, entries: 3, documents: 0 })
    expect(ports.stored.items()).toMatchObject([{ state: 'deleting', dueAtMs: nowMs + LEASE_MS }])
    expect(beginning).toHaveBeenCalledTimes(3)
    beginning.mockRestore()
    await ports.resolveAll()
    // Refunds that no document names free nothing.
    expect(ports.state()).toEqual({ ...NOTHING, entries: 3 })
  })

  it('again once refunds whose answers were lost, and which filled all places, are older than their lease', async () => {
    const ports = createPorts({ random: () => 1 })
    for (let each = 0; each < 5; each++) await ports.addDocument(ports.begin({ sizeBytes: 1 }))
    const mark = ports.ledger.beginRefund
    const marking = vi.spyOn(ports.ledger, 'beginRefund').mockImplementation(async (...args) => {
      await mark(...args)
      throw LOST
    })
    for (const document of ports.stored.documents()) await ports.deleteDocument(document).catch(() => {})
    for (let runs = 0; runs < 6; runs++) {
      ports.pass(LEASE_MS)
      await resolve('work', ports)
    }
    marking.mockRestore()
    expect(ports.state().entries).toBeGreaterThan(40)
    ports.pass(60 * LEASE_MS)
    await resolve('work', ports)
    expect(ports.state()).toMatchObject({ used: 0, unfinished: 0 })
  })

  it('once only when it failed as nobody foresaw', async () => {
    const { ports, document } = await withDocument()
    const beginning = vi.spyOn(ports.ledger, 'beginRefund').mockRejectedValue(new Error('AccessDenied'))
    vi.spyOn(ports.documents, 'find').mockRejectedValue(new Error('away'))
    await expect(ports.deleteDocument(document)).rejects.toThrow('AccessDenied')
    expect(beginning).toHaveBeenCalledTimes(1)
  })

  it('with a second’s patience for a crowded ledger', async () => {
    const { ports, document } = await withDocument()
    const beginning = vi.spyOn(ports.ledger, 'beginRefund').mockResolvedValue('crowded')
    const refusal = { reason: 'too_many_deletions', status: 503, retryAfterSeconds: 1 }
    await expect(ports.deleteDocument(document)).rejects.toMatchObject(refusal)
    expect(beginning.mock.calls.map(([, , ms]) => ms)).toEqual([1000])
  })

  it('not at all when another has ended the deletion, and the workspace is deleted', async () => {
    const { ports, document } = await withDocument()
    beforeNext(ports.ledger, 'beginRefund', async () => {
      ports.pass(LEASE_MS)
      await ports.resolveAll()
      await ports.stored.removeAll(WORKSPACES_TABLE)
    })
    expect(await ports.deleteDocument(document)).toMatchObject({ usage: undefined })
    expect(ports.stored.items()).toMatchObject([{ state: 'gone' }])
  })
})

it('a deletion gives the bytes back though S3 does not answer at once; the object is left to the resolver', async () => {
  const { ports, document } = await withDocument()
  const { promise, reject } = Promise.withResolvers<void>()
  vi.spyOn(ports.objects, 'discard').mockReturnValueOnce(promise)
  const deletion = ports.deleteDocument(document)
  await vi.waitUntil(() => ports.state().used === 0)
  expect(ports.state()).toMatchObject({ entries: 0, objects: 1, unfinished: 1 })
  reject(LOST)
  await expect(deletion).rejects.toBe(LOST)
  await ports.resolveAll()
  expect(ports.state()).toEqual(NOTHING)
})
