import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { claimDocument } from '../../../lib/promotion/claim-document.ts'
import { ALL_STEPS, createPorts, type Ports, type Step } from '../../support/ports.ts'
import { newDocument, newRelease } from '../../support/stores/ledger-values.ts'
import { replaceWaits } from '../../support/virtual-waits.ts'

replaceWaits()

const { signal } = new AbortController()
/** Nothing lives longer. */
const DEAD_AFTER_MS = 40_000

/** An attempt at the same document, begun now. */
const twinOf = (ports: Ports, { documentId }: Attempt) => ports.begin({ documentId })
const claim = ({ deps }: Ports, one: Attempt) => claimDocument(one, deps, signal)
const rows = ({ reservations }: Ports) =>
  [...reservations.items.values()].map(({ purpose, attemptId }) => [purpose, attemptId])

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
      [['claim', 'take', 'reserve', 'unmark'], ageMs, seconds],
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

  it('leaves alone a twin that is being taken back, however old', async () => {
    const ports = createPorts()
    const first = await ports.run(['claim', 'take', 'reserve', 'unmark'])
    const release = newRelease(first, 'undo', { leaseExpiresAtMs: first.leaseExpiresAtMs })
    await ports.ledger.mark(release, signal)
    await ports.reservations.handOver(release, signal)
    ports.pass(DEAD_AFTER_MS)
    const error = await claim(ports, twinOf(ports, first))
    expect(error).toMatchObject({ reason: 'promotion_in_progress', retryAfterSeconds: 1 })
    expect(rows(ports)).toEqual([['promotion', first.attemptId]])
  })

  it('settles a dead twin that had recorded, and notes nothing: the object is the document’s', async () => {
    const ports = createPorts()
    const dead = await ports.run(['claim', ...ALL_STEPS])
    ports.pass(DEAD_AFTER_MS)
    const one = twinOf(ports, dead)
    expect(await claim(ports, one)).toBeUndefined()
    expect(rows(ports)).toEqual([['claim', one.attemptId]])
    expect(await ports.documents.record(newDocument(one), signal)).toBe('exists')
  })
})
