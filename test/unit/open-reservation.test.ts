import { describe, expect, it, vi } from 'vitest'
import { DEAD_AFTER_MS, LOST, open, rows, twinOf } from '../support/maintenance/opening-reservations.ts'
import { createPorts, LEASE_MS } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
describe('openReservation', () => {
  it('opens where nothing is', async () => {
    const ports = createPorts()
    const one = await ports.run(['take'])
    expect(await open(ports, one)).toMatchObject({ error: undefined, progress: { reservation: 'open' } })
    expect(rows(ports)).toEqual([['promotion', one.attemptId]])
  })

  it.each(['before', 'after'] as const)(
    'does not know what became of an opening that failed %s it arrived',
    async (when) => {
      const ports = createPorts()
      const one = await ports.run(['take'])
      const opening = ports.reservations.open.bind(ports.reservations)
      vi.spyOn(ports.reservations, 'open').mockImplementation(async (...args) => {
        if (when === 'after') await opening(...args)
        throw LOST
      })
      expect(await open(ports, one)).toMatchObject({ error: LOST, progress: { reservation: 'unknown' } })
    },
  )

  it.each([
    [0, 1],
    [1, 1],
    [4000, 4],
    [15_000, 15],
    [20_000, 20],
    [20_001, 20],
    [30_000, 10],
    [39_000, 1],
    [39_999, 1],
  ])(
    'fixed: refuses beside a twin of %d ms, to come back in %d s: as long again, or when it must be dead',
    async (ageMs, seconds) => {
      const ports = createPorts()
      const first = await ports.run(['take', 'open', 'unmark'])
      ports.pass(ageMs)
      const { error, progress } = await open(ports, await twinOf(ports, first))
      expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: seconds })
      expect(progress.reservation).toBe('none')
      expect(rows(ports)).toEqual([['promotion', first.attemptId]])
    },
  )

  it('fixed: tells when the fence that stands in the way ends', async () => {
    const ports = createPorts()
    const first = await ports.run(['take', 'forestall'])
    ports.pass(DEAD_AFTER_MS)
    const { error, progress } = await open(ports, await twinOf(ports, first))
    const seconds = (LEASE_MS - DEAD_AFTER_MS) / 1000
    expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: seconds })
    expect(progress.reservation).toBe('none')
  })

  it('leaves alone a twin that is being taken back, however old', async () => {
    const ports = createPorts()
    const first = await ports.run(['take', 'open', 'unmark'])
    const release = newRelease(first, 'undo', { leaseExpiresAtMs: first.leaseExpiresAtMs })
    await ports.ledger.mark(release, signal)
    await ports.reservations.close(release, signal)
    ports.pass(DEAD_AFTER_MS)
    const { error } = await open(ports, await twinOf(ports, first))
    expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: 1 })
    expect(rows(ports)).toEqual([['promotion', first.attemptId]])
  })
})
