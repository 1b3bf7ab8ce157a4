import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../lib/errors.ts'
import { createRoom } from '../../../lib/promotion/room.ts'
import { takeBytes } from '../../../lib/promotion/take-bytes.ts'
import { createPorts, LEASE_MS, WORKSPACE } from '../../support/ports.ts'
import { resolve } from '../../support/unit/resolver-runs.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

/** More than the places that leftovers may take up beside those of live markers. */
const TAKINGS = 52
const MANY_MINUTES = 60 * LEASE_MS

describe('a ledger in which leftovers take up all places', () => {
  it('counts again once the takings of dead processes are older than their lease', async () => {
    const ports = createPorts({ defaultQuotaBytes: 1000, random: () => 1 })
    for (let dead = 0; dead < TAKINGS; dead++) {
      // Older ones take up no place of live ones.
      if (dead % 12 === 0) ports.pass(10_001)
      await ports.run(['begin', 'copy', 'take', 'record'], ports.begin({ sizeBytes: 1 }))
    }
    expect(ports.stored.ledgerOf(WORKSPACE)?.takings).toHaveLength(TAKINGS)
    const request = ports.request()
    const take = () => {
      const room = createRoom(WORKSPACE, request, ports.deps)
      return takeBytes(ports.begin({ sizeBytes: 1 }), { ...request, room }, ports.deps)
    }
    expect(await take()).toMatchObject({ reason: 'too_many_promotions' })
    ports.pass(MANY_MINUTES)
    vi.spyOn(ports.deps.documents, 'find').mockRejectedValueOnce(new ServiceError('service_unavailable'))
    expect(await take(), 'when they cannot be cleaned').toMatchObject({ reason: 'too_many_promotions' })
    expect(ports.stored.ledgerOf(WORKSPACE)?.takings, 'all but the one that could not').toHaveLength(1)
    expect(await take()).toMatchObject({ takings: [{ sizeBytes: 1 }, { sizeBytes: 1 }], usedBytes: TAKINGS + 1 })
  })

  it('gives back again once releases, applied though their answers were lost, are older than their lease', async () => {
    const ports = createPorts({ random: () => 1 })
    for (let each = 0; each < 5; each++) await ports.addDocument(ports.begin({ sizeBytes: 1 }))
    const { mark } = ports.ledger
    const marking = vi.spyOn(ports.ledger, 'mark').mockImplementation(async (...args) => {
      await mark(...args)
      throw new ServiceError('service_unavailable', { isUnanswered: true })
    })
    for (const document of ports.stored.documents()) await ports.deleteDocument(document).catch(() => {})
    for (let runs = 0; runs < 6; runs++) {
      ports.pass(LEASE_MS)
      await resolve('work', ports)
    }
    marking.mockRestore()
    expect(ports.stored.ledgerOf(WORKSPACE)?.releases.length).toBeGreaterThan(40)
    ports.pass(MANY_MINUTES)
    await resolve('work', ports)
    expect(ports.state()).toMatchObject({ used: 0, unfinished: 0 })
  })
})
