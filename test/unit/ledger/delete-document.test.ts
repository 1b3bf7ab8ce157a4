import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, LEASE_MS, NOTHING, WORKSPACE } from '../../support/ports.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

const LOST = new ServiceError('service_unavailable', { isUnanswered: true })

describe('a deletion marks the bytes that it is about to give back', () => {
  it('again under a fresh id when a try failed, though it was applied, each with a lease of its own; up to three times', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const mark = ports.ledger.mark
    const marking = vi.spyOn(ports.ledger, 'mark').mockImplementation(async (...args) => {
      await mark(...args)
      ports.pass(1000)
      throw LOST
    })
    const { nowMs } = ports.clock
    await expect(ports.deleteDocument(document)).rejects.toBe(LOST)
    const leases = ports.stored.ledgerOf(WORKSPACE)?.releases.map(({ leaseEndsAtMs }) => leaseEndsAtMs)
    expect(leases?.toSorted()).toEqual([0, 1000, 2000].map((passedMs) => nowMs + passedMs + LEASE_MS))
    expect(ports.state()).toMatchObject({ used: 100, markers: 3, documents: 0 })
    expect(ports.stored.items()).toMatchObject([{ state: 'deleting', dueAtMs: nowMs + LEASE_MS }])
    expect(marking).toHaveBeenCalledTimes(3)
    marking.mockRestore()
    await ports.resolveAll()
    // Markers to which nothing was handed over give nothing back.
    expect(ports.state()).toEqual({ ...NOTHING, markers: 3 })
  })

  it('once only when it failed as nobody foresaw', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const mark = vi.spyOn(ports.ledger, 'mark').mockRejectedValue(new Error('AccessDenied'))
    vi.spyOn(ports.documents, 'find').mockRejectedValue(new Error('away'))
    await expect(ports.deleteDocument(document)).rejects.toThrow('AccessDenied')
    expect(mark).toHaveBeenCalledTimes(1)
  })

  it('with a second’s patience for a crowded ledger', async () => {
    const ports = createPorts()
    const mark = vi.spyOn(ports.ledger, 'mark').mockResolvedValue('crowded')
    const refusal = { reason: 'too_many_deletions', status: 503, retryAfterSeconds: 1 }
    await expect(ports.deleteDocument(await ports.addDocument())).rejects.toMatchObject(refusal)
    expect(mark.mock.calls.map(([, , ms]) => ms)).toEqual([1000])
  })

  it('not at all when another has ended the deletion, and the workspace is deleted', async () => {
    const ports = createPorts()
    const document = await ports.addDocument()
    const mark = ports.ledger.mark
    vi.spyOn(ports.ledger, 'mark').mockImplementationOnce(async (...args) => {
      ports.pass(LEASE_MS)
      await ports.resolveAll()
      await ports.stored.removeAll(WORKSPACES_TABLE)
      return mark(...args)
    })
    const deleted = await ports.deleteDocument(document)
    expect(deleted).toMatchObject({ usage: undefined })
    expect(ports.stored.items()).toMatchObject([{ state: 'gone' }])
  })
})
