import { describe, expect, it, vi } from 'vitest'
import { MAX_HOLDS } from '../../../lib/aws/dynamodb/ledger.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { holdBytes, requireAdmission } from '../../../lib/promotion/hold-bytes.ts'
import { createRoom } from '../../../lib/promotion/room.ts'
import { createPorts, LEASE_MS, WORKSPACE } from '../../support/ports.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

const LOST = new ServiceError('service_unavailable', { isUnanswered: true })

function setUp() {
  const world = { random: 0.999 }
  const ports = createPorts({ random: () => world.random })
  const tries = vi.spyOn(ports.ledger, 'hold')
  const notes = vi.spyOn(ports.deps.admission, 'count')
  const request = ports.request()
  const room = createRoom(WORKSPACE, request, ports.deps)
  const take = (sizeBytes = 100) => holdBytes(ports.begin({ sizeBytes }), { ...request, room }, ports.deps)
  /** Makes the workspace look as if so many had been accepted and refused lately. */
  const heat = (accepted: number, refused: number) => {
    for (let i = 0; i < accepted + refused; i++) ports.deps.admission.count(WORKSPACE, i < accepted)
    notes.mockClear()
  }
  return { world, ports, room, tries, notes, take, heat, patience: () => tries.mock.calls.map(([, , ms]) => ms) }
}

describe('requireAdmission', () => {
  it('refuses when too many were refused lately, with the Retry-After of the load', () => {
    const { world, ports, heat, notes } = setUp()
    world.random = 0
    heat(0, 1000)
    const refusal = { reason: 'too_many_promotions', retryAfterSeconds: 10 }
    expect(() => requireAdmission(WORKSPACE, ports.deps)).toThrow(expect.objectContaining(refusal))
    // A refusal is one of the load that is asked for.
    expect(notes.mock.calls).toEqual([[WORKSPACE, false]])
  })

  it('lets pass, and counts nothing, as long as the coin says so', () => {
    const { ports, heat, notes } = setUp()
    heat(0, 9)
    expect(requireAdmission(WORKSPACE, ports.deps)).toBeUndefined()
    expect(notes).not.toHaveBeenCalled()
  })
})

describe('holdBytes', () => {
  it('refuses what the quota has no room for, with its figures', async () => {
    const { ports, take, notes } = setUp()
    await ports.addDocument(ports.begin({ sizeBytes: 950 }))
    const metadata = { quota_bytes: 1000, used_bytes: 950, file_bytes: 100 }
    expect(await take()).toMatchObject({ reason: 'storage_quota_exceeded', metadata })
    // The ledger was not too busy to say so.
    expect(notes.mock.calls).toEqual([[WORKSPACE, true]])
  })

  it('refuses what a crowded ledger did not take, though it would just fit: 429', async () => {
    const { ports, take, notes } = setUp()
    for (let i = 0; i < MAX_HOLDS; i++) await ports.run(['hold'], ports.begin({ sizeBytes: 1 }))
    notes.mockClear()
    expect(await take(1000 - MAX_HOLDS)).toMatchObject({ reason: 'too_many_promotions', status: 429 })
    expect(notes.mock.calls).toEqual([[WORKSPACE, false]])
    expect(ports.state()).toMatchObject({ used: MAX_HOLDS, entries: MAX_HOLDS })
  })

  it('counts again once the holds of dead processes, which took up all places, are older than their lease', async () => {
    const { ports, take } = setUp()
    for (let dead = 0; dead < 52; dead++) {
      // Older ones take up no place of live ones.
      if (dead % 12 === 0) ports.pass(10_001)
      await ports.run(['begin', 'copy', 'hold', 'record'], ports.begin({ sizeBytes: 1 }))
    }
    expect(await take(1)).toMatchObject({ reason: 'too_many_promotions' })
    ports.pass(60 * LEASE_MS)
    vi.spyOn(ports.deps.documents, 'find').mockRejectedValueOnce(LOST)
    expect(await take(1), 'when one cannot be cleaned').toMatchObject({ reason: 'too_many_promotions' })
    expect(await take(1)).toMatchObject({ holds: [{ sizeBytes: 1 }, { sizeBytes: 1 }], usedBytes: 53 })
  })

  it('is less patient where places were taken before the copy', async () => {
    for (const [holds, expected] of [
      [7, 6000],
      [8, 1000],
    ] as const) {
      const { ports, take, room, tries, patience } = setUp()
      for (let i = 0; i < holds; i++) await ports.run(['hold'], ports.begin({ sizeBytes: 1 }))
      await room.ledger()
      tries.mockClear()
      await take()
      expect(patience()).toEqual([expected])
    }
  })

  it.each([
    ['hot', 0.999],
    ['so hot that others are refused', 0],
  ])('tries once what has been copied while the workspace is %s', async (_, random) => {
    const { world, take, heat, notes, patience } = setUp()
    world.random = random
    heat(10, 90)
    expect(await take()).toMatchObject({ usedBytes: 100 })
    expect([patience(), notes.mock.calls]).toEqual([[0], [[WORKSPACE, true]]])
  })
})
