import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { holdBytes } from '../../../lib/promotion/hold-bytes.ts'
import { createRoom } from '../../../lib/promotion/room.ts'
import { createPorts, LEASE_MS, WORKSPACE } from '../../support/ports.ts'
import { resolve } from '../../support/unit/resolver-runs.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

/** More than the places that leftovers may take up beside live refunds. */
const HOLDS = 52
const MANY_MINUTES = 60 * LEASE_MS

describe('a ledger in which leftovers take up all places', () => {
  it('counts again once the holds of dead processes are older than their lease', async () => {
    const ports = createPorts({ defaultQuotaBytes: 1000, random: () => 1 })
    for (let dead = 0; dead < HOLDS; dead++) {
      // Older ones take up no place of live ones.
      if (dead % 12 === 0) ports.pass(10_001)
      await ports.run(['begin', 'copy', 'hold', 'record'], ports.begin({ sizeBytes: 1 }))
    }
    expect(ports.stored.ledgerOf(WORKSPACE)?.holds).toHaveLength(HOLDS)
    const request = ports.request()
    const hold = () => {
      const room = createRoom(WORKSPACE, request, ports.deps)
      return holdBytes(ports.begin({ sizeBytes: 1 }), { ...request, room }, ports.deps)
    }
    expect(await hold()).toMatchObject({ reason: 'too_many_promotions' })
    ports.pass(MANY_MINUTES)
    vi.spyOn(ports.deps.documents, 'find').mockRejectedValueOnce(new ServiceError('service_unavailable'))
    expect(await hold(), 'when they cannot be cleaned').toMatchObject({ reason: 'too_many_promotions' })
    expect(ports.stored.ledgerOf(WORKSPACE)?.holds, 'all but the one that could not').toHaveLength(1)
    expect(await hold()).toMatchObject({ holds: [{ sizeBytes: 1 }, { sizeBytes: 1 }], usedBytes: HOLDS + 1 })
  })

  it('refunds again once refunds, applied though their answers were lost, are older than their lease', async () => {
    const ports = createPorts({ random: () => 1 })
    for (let each = 0; each < 5; each++) await ports.addDocument(ports.begin({ sizeBytes: 1 }))
    const { beginRefund } = ports.ledger
    const beginning = vi.spyOn(ports.ledger, 'beginRefund').mockImplementation(async (...args) => {
      await beginRefund(...args)
      throw new ServiceError('service_unavailable', { isUnanswered: true })
    })
    for (const document of ports.stored.documents()) await ports.deleteDocument(document).catch(() => {})
    for (let runs = 0; runs < 6; runs++) {
      ports.pass(LEASE_MS)
      await resolve('work', ports)
    }
    beginning.mockRestore()
    expect(ports.stored.ledgerOf(WORKSPACE)?.refunds.length).toBeGreaterThan(40)
    ports.pass(MANY_MINUTES)
    await resolve('work', ports)
    expect(ports.state()).toMatchObject({ used: 0, unfinished: 0 })
  })
})
