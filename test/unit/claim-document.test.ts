import { describe, expect, it } from 'vitest'
import type { Progress } from '../../lib/promotion/end-attempt.ts'
import { claim, DEAD_AFTER_MS, rows, twinOf } from '../support/maintenance/claiming.ts'
import { createPorts, type Step } from '../support/ports.ts'
import { newRelease } from '../support/stores/ledger-values.ts'
import { replaceWaits } from '../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
describe('claimDocument', () => {
  it('claims where nothing is, before any bytes are taken', async () => {
    const ports = createPorts()
    const one = ports.begin()
    expect(await claim(ports, one)).toBeUndefined()
    expect(rows(ports)).toEqual([['claim', one.attemptId]])
    expect(ports.ledger.workspaces.size).toBe(0)
  })

  it.each<[Step[], number, number]>(
    [
      [0, 1],
      [1, 1],
      [4000, 4],
      [15_000, 15],
      [20_000, 20],
      [20_001, 20],
      [30_000, 10],
      [39_000, 1],
      [39_999, 1],
    ].flatMap(([ageMs = 0, seconds = 0]) => [
      [['claim', 'take', 'open', 'unmark'], ageMs, seconds],
      [['claim', 'take'], ageMs, seconds],
    ]),
  )(
    'fixed: refuses beside a twin after %j of %d ms, to come back in %d s: as long again, or when it must be dead',
    async (steps, ageMs, seconds) => {
      const ports = createPorts()
      await ports.run(steps, ports.begin())
      const before = rows(ports)
      const [first] = ports.reservations.items.values()
      ports.pass(ageMs)
      const error = first && (await claim(ports, twinOf(ports, first)))
      expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: seconds })
      expect(rows(ports)).toEqual(before)
    },
  )

  it('says whether there is a claim to remove', async () => {
    const ports = createPorts()
    const [one, other] = [{ reservation: 'none' }, { reservation: 'none' }] as Progress[]
    const first = ports.begin()
    await claim(ports, first, one)
    await claim(ports, twinOf(ports, first), other)
    expect([one?.reservation, other?.reservation]).toEqual(['claimed', 'none'])
  })

  it('leaves alone a twin that is being taken back, however old', async () => {
    const ports = createPorts()
    const first = await ports.run(['claim', 'take', 'open', 'unmark'])
    const release = newRelease(first, 'undo', { leaseExpiresAtMs: first.leaseExpiresAtMs })
    await ports.ledger.mark(release, signal)
    await ports.reservations.close(release, signal)
    ports.pass(DEAD_AFTER_MS)
    const error = await claim(ports, twinOf(ports, first))
    expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: 1 })
    expect(rows(ports)).toEqual([['promotion', first.attemptId]])
  })
})
