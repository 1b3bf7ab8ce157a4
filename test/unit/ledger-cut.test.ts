import { describe, expect, it } from 'vitest'
import type { ReleaseId } from '../../lib/ids.ts'
import { cutLedger } from '../../lib/maintenance/ledger-cut.ts'
import type { OpenReservation } from '../../lib/promotion/reservations.ts'
import type { WorkspaceLedger } from '../../lib/promotion/workspace-ledgers.ts'
import { createPorts, WORKSPACE } from '../support/ports.ts'
import { newRelease, newReservation } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const EMPTY = { usedBytes: 0, underWayBytes: 0, underWay: { ages: [], attemptIds: [] }, releaseIds: [] }
const MOST_UNDER_WAY = 10_000
const TRIES = 50

const ledger = (version: number, change: Partial<WorkspaceLedger> = {}): WorkspaceLedger => ({
  workspaceId: WORKSPACE,
  usedBytes: 300,
  quotaBytes: 1000,
  takings: [],
  releases: [],
  version,
  undone: 0,
  checkDueAtMs: undefined,
  ...change,
})

const reservation = (countedFrom?: number): OpenReservation => ({
  ...newReservation(),
  purpose: 'promotion',
  closedBy: undefined,
  ...(countedFrom !== undefined && { countedFrom }),
})

/** @param ledgers what the readings find, the last one again and again */
function cut(ledgers: (WorkspaceLedger | undefined)[], open: OpenReservation[] = []) {
  const { deps } = createPorts()
  let readings = 0
  const changed = {
    ledgers: { ...deps.ledgers, read: async () => ledgers[Math.min(readings++, ledgers.length - 1)] },
    reservations: {
      ...deps.reservations,
      async *list() {
        yield* open
      },
    },
  }
  return cutLedger(WORKSPACE, changed, signal).then((result) => ({ result, readings }))
}

describe('a cut through a ledger', () => {
  it('has nothing, and no version, where there is no ledger', async () => {
    expect((await cut([undefined])).result).toStrictEqual(EMPTY)
  })

  it('knows attempts by their ids where there is no version to tell their age from', async () => {
    const one = reservation(3)
    const underWay = { ages: [], attemptIds: [one.attemptId] }
    const expected = { ...EMPTY, underWayBytes: 100, underWay }
    expect((await cut([undefined], [one])).result).toStrictEqual(expected)
    const unknown = reservation()
    expect((await cut([ledger(5)], [unknown])).result).toMatchObject({
      underWay: { ages: [], attemptIds: [unknown.attemptId] },
    })
  })

  it('cuts again when the ledger came or went meanwhile', async () => {
    expect(await cut([undefined, ledger(3)], [reservation(3)])).toMatchObject({ result: { version: 3 }, readings: 4 })
    const { result, readings } = await cut([ledger(5), undefined], [reservation(4)])
    expect(result).not.toHaveProperty('version')
    expect(readings).toBe(4)
  })

  it.each([
    ['at the cut', 5, [0]],
    ['just after it', 6, []],
    ['by the last write that it saw', 7, []],
    ['before the ledger was restored from a backup', 8, [-3]],
  ])('of a ledger that changes has a reservation that was counted %s: version %d', async (_, countedFrom, ages) => {
    const { result } = await cut([ledger(5), ledger(7)], [reservation(countedFrom)])
    expect(result).toMatchObject({ version: 5, underWayBytes: 100 * ages.length, underWay: { ages, attemptIds: [] } })
  })

  it('gives up after fifty tries in which something was undone', async () => {
    const undoing = Array.from({ length: 4 * TRIES }, (_, undone) => ledger(5, { undone }))
    expect(await cut(undoing)).toEqual({ result: 'restless', readings: 2 * TRIES })
  })

  it('holds ten thousand attempts, and no more', async () => {
    const open = Array.from({ length: MOST_UNDER_WAY }, () => reservation(5))
    expect((await cut([ledger(5)], open)).result).toMatchObject({ underWayBytes: 100 * MOST_UNDER_WAY })
    expect((await cut([ledger(5)], [...open, reservation(5)])).result).toBe('too_many_under_way')
  })

  it('names the releases that had not given their bytes back', async () => {
    const one = newReservation()
    const releases = [newRelease(one, 'deletion'), newRelease(one, 'undo')].map((each) => ({ ...each, markedIn: 4 }))
    const releaseIds = releases.map(({ releaseId }) => releaseId)
    expect((await cut([ledger(5, { releases })])).result).toMatchObject({ releaseIds })
  })

  it('leaves out a reservation whose release has come to its end', async () => {
    const open = [{ ...reservation(5), closedBy: 'release_1' as ReleaseId }]
    expect((await cut([ledger(5)], open)).result).toMatchObject({ underWayBytes: 0 })
  })
})
