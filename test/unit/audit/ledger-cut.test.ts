import { describe, expect, it } from 'vitest'
import { cutLedger } from '../../../lib/audit/ledger-cut.ts'
import type { ReservationItem } from '../../../lib/ledger/ports/reservations.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/workspace-ledgers.ts'
import { listenTo } from '../../support/add-up.ts'
import { createPorts, WORKSPACE } from '../../support/ports.ts'
import { newAttempt, newRelease } from '../../support/stores/ledger-values.ts'

const NOTHING = { usedBytes: 0, underWayBytes: 0, underWay: { versionsAgo: [], attemptIds: [] }, releaseIds: [] }
const MOST_UNDER_WAY = 10_000
const TRIES = 50

const ledger = (version: number, change: Partial<WorkspaceLedger> = {}): WorkspaceLedger => ({
  workspaceId: WORKSPACE,
  usedBytes: 300,
  quotaBytes: 1000,
  takings: [],
  releases: [],
  version,
  undos: 0,
  checkDueAtMs: undefined,
  ...change,
})

const reservation = (countedFrom?: number): ReservationItem => ({
  ...newAttempt(countedFrom === undefined ? {} : { countedFrom }),
  purpose: 'promotion',
  releasedBy: undefined,
})

/** @param ledgers what the readings find, the last one again and again */
async function cut(ledgers: (WorkspaceLedger | undefined)[], open: ReservationItem[] = []) {
  const { deps } = createPorts()
  let readings = 0
  const read = async () => ledgers[Math.min(readings++, ledgers.length - 1)]
  const list = async function* () {
    yield* open
  }
  const changed = { workspaces: { ...deps.workspaces, read }, reservations: { ...deps.reservations, list } }
  const { audit } = listenTo({ deps: { ...deps, ...changed } })
  return { result: await cutLedger(audit), readings }
}

describe('a cut through a ledger', () => {
  it('has nothing, and no version, where there is no ledger', async () => {
    expect((await cut([undefined])).result).toStrictEqual(NOTHING)
  })

  it('knows attempts by their ids where there is no version to tell their age from', async () => {
    const [one, unknown] = [reservation(3), reservation()]
    const known = (attemptId: string) => ({ versionsAgo: [], attemptIds: [attemptId] })
    const expected = { ...NOTHING, underWayBytes: 100, underWay: known(one.attemptId) }
    expect((await cut([undefined], [one])).result).toStrictEqual(expected)
    expect((await cut([ledger(5)], [unknown])).result).toMatchObject({ underWay: known(unknown.attemptId) })
    const takings = [{ ...newAttempt(), countedFrom: undefined as never }]
    const underWay = known(String(takings[0]?.attemptId))
    expect((await cut([ledger(5, { takings })])).result).toMatchObject({ underWayBytes: 100, underWay })
  })

  it('cuts again when the ledger came or went meanwhile', async () => {
    expect(await cut([undefined, ledger(3)], [reservation(3)])).toMatchObject({ result: { version: 3 }, readings: 4 })
    const { result, readings } = await cut([ledger(5), undefined], [reservation(4)])
    expect([result, readings]).toMatchObject([{ usedBytes: 0 }, 4])
    expect(result).not.toHaveProperty('version')
  })

  it.each([
    ['at the cut', 5, [0]],
    ['just after it', 6, []],
    ['by the last write that it saw', 7, []],
    ['before the ledger was restored from a backup', 8, [-3]],
  ])('of a changing ledger has a reservation that was counted %s: version %d', async (_, countedFrom, versionsAgo) => {
    const { result } = await cut([ledger(5), ledger(7)], [reservation(countedFrom)])
    const underWayBytes = 100 * versionsAgo.length
    expect(result).toMatchObject({ version: 5, underWayBytes, underWay: { versionsAgo, attemptIds: [] } })
  })

  it('cuts again when a reservation of the cut was undone while it looked, up to fifty times', async () => {
    const undoing = Array.from({ length: 4 * TRIES }, (_, undos) => ledger(5, { undos }))
    expect(await cut(undoing.slice(0, 4))).toMatchObject({ result: { version: 5 }, readings: 6 })
    expect(await cut(undoing)).toEqual({ result: 'keeps_changing', readings: 2 * TRIES })
  })

  it('holds ten thousand attempts, in six bytes each, and no more', async () => {
    const open = Array.from({ length: MOST_UNDER_WAY }, () => reservation(5))
    const { result } = await cut([ledger(10_000)], open)
    expect(result).toMatchObject({ underWayBytes: 100 * MOST_UNDER_WAY })
    expect(JSON.stringify(result).length).toBeLessThan(6 * MOST_UNDER_WAY)
    expect((await cut([ledger(5)], [...open, reservation(5)])).result).toBe('too_many_under_way')
  })

  it('has a reservation that a release closes, before the cut or after, until the release gives its bytes back', async () => {
    const one = reservation(4)
    const release = { ...newRelease(one, 'undo'), markedIn: 5 }
    const open = [{ ...one, releasedBy: release.releaseId }]
    const releases = [release]
    const releaseIds = [release.releaseId]
    const underWayBytes = 100
    expect((await cut([ledger(5, { releases })], open)).result).toMatchObject({ underWayBytes, releaseIds })
    expect((await cut([ledger(5), ledger(6, { releases })], open)).result).toMatchObject({
      underWayBytes,
      releaseIds: [],
    })
    expect((await cut([ledger(5)], open)).result).toMatchObject({ underWayBytes: 0, releaseIds: [] })
  })

  it('has a taking and its reservation once, and no note', async () => {
    const one = reservation(6)
    const note = { ...reservation(4), purpose: 'late_copy' as const }
    const ledgers = [ledger(5, { takings: [one] }), ledger(7)]
    expect((await cut(ledgers, [one, note])).result).toMatchObject({
      underWayBytes: 100,
      underWay: { versionsAgo: [-1] },
    })
  })
})
