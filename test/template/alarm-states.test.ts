import { describe, expect, it } from 'vitest'
import { API_FUNCTIONS } from '../../infra/deploy/functions.ts'
import { changesOf, type Datapoint, metricsOf, type Traffic } from '../support/template/alarm-states.ts'
import * as traffic from '../support/template/alarm-traffic.ts'
import type { EmptyFill } from '../support/template/metric-math.ts'
import { packagedService, THRESHOLDS } from '../support/template/packages.ts'

const prod = await packagedService('prod')
const API_FUNCTION_NAMES = API_FUNCTIONS.map(({ name }) => name)

const { crashes, each, FAILED_RUNS, gateway, healthy, lambda, leftovers, minutes, own, requests, RUNS, runs } = traffic
const { resolver, THROTTLED_WRITES, USED } = traffic
const HOUR = 60
const DAY = 24 * HOUR
const ROUND = Number(THRESHOLDS.auditRoundHours) * HOUR
const PAGE = JSON.stringify([{ Ref: 'AlarmTopic' }])
/** Of most stories. */
const UNTIL = 3 * HOUR
const ALL = minutes(0, UNTIL)
const failing = (at: number[], perMinute: number) => requests(at, perMinute, at)
const slow = (ms: number, metric = own('PromotionTime')): Traffic => ({ [metric]: each(minutes(30, 60), ms) })
const oldest = (at: number[], ms: (minute: number) => number) =>
  leftovers(ALL, (minute) => (at.includes(minute) ? ms(minute) : undefined))
const sinceAnHour = (minute: number) => (minute - 60) * 60_000
const unresolved = (at: number[]): Traffic => ({ [own('ReservationsUnresolved')]: each(at, 1) })
const expiries = (what: 'Failed' | 'Oldest', at: number[], value = (_: number) => 1): Traffic => ({
  [own(what === 'Failed' ? 'ExpiriesFailed' : 'OldestExpiry')]: at.map((minute) => ({ minute, value: value(minute) })),
})
const BEFORE = minutes(0, 60)
const AFTER = minutes(60, UNTIL)
const LATE = 'LeftoversLate'
const failedRuns = (at: number[], perMinute: number): Traffic => {
  return { [RUNS]: each(ALL, 8), [FAILED_RUNS]: [...each(ALL, 0), ...each(at, perMinute)] }
}

/** What happens beside a stage in which all is well, and every alarm that goes off, with its minutes. */
const INCIDENTS: [string, Traffic, Record<string, number[]>][] = [
  ['nothing', {}, {}],
  ['one request that fails', requests(ALL, 1, [30]), {}],
  ['the only request fails', failing([30], 1), {}],
  [
    'a single 500',
    { ...requests(ALL, 5, [30], 1), [own('Failures', { reason: 'internal_error' })]: each([30], 1) },
    { Faults: [30] },
  ],
  ['a single 503', { [own('Failures', { reason: 'service_unavailable' })]: each([30], 1) }, {}],
  ...API_FUNCTION_NAMES.map((name): (typeof INCIDENTS)[number] => [
    `a crash of ${name}`,
    { [crashes(name)]: each([30, 90], 1) },
    { Faults: [30, 90] },
  ]),
  ['a quiet stage fails each minute', failing(minutes(30, 60), 1), { ServerErrorRate: [31], ErrorBudget: [32] }],
  ['a quiet stage fails twice', failing([30, 38], 1), { ServerErrorRate: [38] }],
  ['a quiet stage fails three times', failing([30, 37, 44], 1), { ServerErrorRate: [37], ErrorBudget: [44] }],
  ['a busy stage fails', requests(ALL, 600, minutes(30, HOUR)), { ServerErrorRate: [31], ErrorBudget: [30] }],
  [
    'a tenth fails, of a new version',
    requests(ALL, 600, minutes(30, 35), 60),
    { ServerErrorRate: [31], ErrorBudget: [31] },
  ],
  ['a busy stage fails rarely', requests(ALL, 600, minutes(10, UNTIL, 3), 6), {}],
  [
    'a busy stage fails twice',
    requests(ALL, 600, [...minutes(30, 33), ...minutes(90, 93)], 20),
    { ServerErrorRate: [31, 91] },
  ],
  ['a caller waits, or promotes many files', slow(29_000, gateway('Latency')), {}],
  ['promotions are slow', slow(Number(THRESHOLDS.alarmLatencyMs) + 1), { PromotionLatency: [40] }],
  ['promotions are not too slow', slow(Number(THRESHOLDS.alarmLatencyMs)), {}],
  ['the concurrency is nearly used up', { [USED]: each(minutes(30, HOUR), 801) }, { Concurrency: [30] }],
  ['the concurrency is used', { [USED]: each(minutes(30, HOUR), 800) }, {}],
  ...API_FUNCTION_NAMES.map((name): (typeof INCIDENTS)[number] => [
    `${name} is throttled`,
    { [lambda('Throttles', name)]: each([30, 90], 1) },
    { Concurrency: [30, 90] },
  ]),
  ['DynamoDB throttles the ledger', { [THROTTLED_WRITES]: each([30, 90], 10) }, { LedgerThrottles: [30, 90] }],
  ['DynamoDB throttles it a little', { [THROTTLED_WRITES]: each([30, 90], 9) }, {}],
  [
    'requests are not counted',
    { [own('RateLimiterUnavailable')]: each([30, 38], 1) },
    { RateLimiterUnavailable: [38] },
  ],
  ['a request is not counted', { [own('RateLimiterUnavailable')]: each([30], 1) }, {}],
  ['nothing runs: the schedules are off, or Lambda throttles', resolver(BEFORE), { [LATE]: [91] }],
  ['each run fails, at once or out of time', { ...resolver(BEFORE), ...failedRuns(AFTER, 8) }, { [LATE]: [91] }],
  ['each run has failed since the first deployment', { ...resolver([]), ...failedRuns(ALL, 8) }, { [LATE]: [30] }],
  ['each run fails for a quarter of an hour', failedRuns(minutes(60, 75), 8), {}],
  ['a group of shards is left out', { [RUNS]: [...each(BEFORE, 8), ...each(AFTER, 7)] }, { [LATE]: [101] }],
  ['a shard cannot be listed', failedRuns(AFTER, 1), { [LATE]: [101] }],
  ['half of the runs fail or are late', { ...failedRuns(AFTER, 4), ...oldest(AFTER, sinceAnHour) }, { [LATE]: [92] }],
  ['the resolver cannot keep up', oldest(AFTER, sinceAnHour), { [LATE]: [96] }],
  ['a reservation fails again and again', oldest(minutes(60, UNTIL, 11), sinceAnHour), { [LATE]: [101] }],
  ['a workspace fails as a whole', unresolved(minutes(60, UNTIL, 11)), { [LATE]: [90] }],
  ['a reservation fails for a while', unresolved(minutes(60, 65)), {}],
  ['the resolver catches up', oldest(minutes(60, 70), () => 2 * 3_600_000), {}],
  ['leftovers wait as long as they may', oldest(AFTER, () => Number(THRESHOLDS.alarmOldestReservationMs)), {}],
  ['a document that has expired cannot be deleted', expiries('Failed', minutes(60, UNTIL, 11)), { ExpiriesLate: [90] }],
  ['one cannot be deleted for a while', expiries('Failed', minutes(60, 65)), {}],
  ['expired documents are too many', expiries('Oldest', AFTER, sinceAnHour), { ExpiriesLate: [96] }],
  ['a million expire at once', expiries('Oldest', minutes(60, 75), sinceAnHour), {}],
  ['they wait as long as they may', expiries('Oldest', AFTER, () => Number(THRESHOLDS.alarmOldestReservationMs)), {}],
]

describe.each<EmptyFill>(['filled', 'empty'])('alarms, where FILL leaves a metric without data %s', (emptyFill) => {
  const alarms = () => prod.idsOfType('AWS::CloudWatch::Alarm').map((id) => id.replace(/Alarm$/, ''))
  const alarmOf = (name: string) => prod.resource(`${name}Alarm`).Properties
  const changes = (name: string, seen: Traffic, untilMinute: number, everyMinutes = 1) =>
    changesOf(alarmOf(name), seen, { untilMinute, everyMinutes, emptyFill })
  const goesOff = (...args: Parameters<typeof changes>) =>
    changes(...args).flatMap(({ minute, state }) => (state === 'ALARM' ? [minute] : []))
  const rings = (names: string[], seen: Traffic, untilMinute: number) =>
    Object.fromEntries(names.map((name) => [name, goesOff(name, seen, untilMinute)]).filter(([, at]) => at?.length))

  it.each(INCIDENTS)('ring for each thing to do, once: %s', (_, incident, rung) => {
    const seen = { ...healthy(UNTIL), ...incident }
    // The others see nothing of it.
    const isConcerned = (name: string) => metricsOf(alarmOf(name)).some((metric) => metric in incident)
    const names = Object.keys(incident).length > 0 ? alarms().filter(isConcerned) : alarms()
    expect(rings(names, seen, UNTIL)).toEqual(rung)
  })

  it.each([1, 2, 4])('page nobody on a first deployment, with data that are %d minutes late', (seenAfter) => {
    const paging = alarms().filter((name) => JSON.stringify(alarmOf(name).AlarmActions) === PAGE)
    expect(paging).toEqual(['ServerErrorRate', 'LeftoversLate', 'DriftOrLoss'])
    for (const first of [0, 1, 4, 7]) {
      // That there was no round yet waits for the morning.
      const rung = rings(alarms(), runs(minutes(first, HOUR), seenAfter), HOUR)
      expect([first, rung]).toEqual([first, { AuditIncomplete: [0] }])
    }
  })

  it('of the latency look at a quiet stage, too', () => {
    const p99 = { ExtendedStatistic: 'p99', EvaluateLowSampleCountPercentile: 'evaluate' }
    expect(alarmOf('PromotionLatency')).toMatchObject(p99)
  })

  it('spend the budget of a quiet stage, too', () => {
    const all = minutes(0, DAY, 5)
    expect(goesOff('ErrorBudget', requests(all, 1, [300]), DAY)).toEqual([])
    expect(goesOff('ErrorBudget', requests(all, 1, [300, 360, 420]), DAY)).toEqual([420])
    expect(goesOff('ErrorBudget', requests(all, 500, minutes(60, DAY, 10), 5), DAY, 10)).toEqual([])
    expect(goesOff('ErrorBudget', requests(all, 500, all, 5), DAY, 10)).toHaveLength(1)
  })

  it('of the resolver stay on for as long as nothing runs, and are over soon after the repair', () => {
    expect(changes(LATE, runs(BEFORE), DAY, 5).at(-1)?.state).toBe('ALARM')
    const repaired = runs([...BEFORE, ...minutes(DAY, DAY + HOUR)])
    expect(changes(LATE, repaired, DAY + 15).at(-1)?.state).toBe('OK')
    expect(goesOff(LATE, repaired, DAY + HOUR)).toHaveLength(1)
  })

  it.each([
    ['drift', 'DriftOrLoss', 'AuditFindings'],
    ['document_without_object', 'DriftOrLoss', 'AuditFindings'],
    ['object_without_document', 'AuditFindings', 'DriftOrLoss'],
  ])('tell of %s once for each round that finds it, at whatever hour', (kind, name, other) => {
    // Two workspaces in each of the first two rounds, one after the repair.
    const found = each([100, 130, DAY + 90, DAY + 125, 3 * DAY + 40], 1)
    const seen = { [own('AuditFindings')]: found, [own('AuditFindings', { kind })]: found }
    expect(goesOff(name, seen, 4 * DAY, 5)).toEqual([100, DAY + 90, 3 * DAY + 40])
    expect(goesOff(other, seen, 4 * DAY, 5)).toEqual([])
    expect(changes(name, seen, 4 * DAY, 5).at(-1)?.state).toBe('OK')
  })

  describe('of the audit', () => {
    const ends = (round: number) => round * ROUND + 5 * HOUR
    const told = (completed: Datapoint[]) =>
      changes('AuditIncomplete', { [own('AuditRoundsCompleted')]: completed }, 4 * ROUND, 30)

    it('are silent while each round is complete, a little later than the one before', () => {
      const completed = [0, 1, 2, 3].flatMap((round) => each([ends(round) + round * 2 * HOUR], 1))
      expect(told(completed)).toEqual([
        { minute: 0, state: 'ALARM' },
        { minute: ends(0), state: 'OK' },
      ])
    })

    it.each([
      ['gave shards up, or could not add up many workspaces', each([ends(1)], 0)],
      ['did not begin, or end in its time', []],
    ])('tell, half a round later, of one that %s, and when the next is complete', (_, second) => {
      const [, , missed, ...more] = told([...each([ends(0)], 1), ...second, ...each([ends(2), ends(3)], 1)])
      expect(missed?.state).toBe('ALARM')
      // CloudWatch looks two periods further back.
      expect(missed?.minute).toBeGreaterThanOrEqual(ends(0) + 1.5 * ROUND)
      expect(missed?.minute).toBeLessThanOrEqual(ends(0) + 1.5 * ROUND + 4 * HOUR)
      expect(more).toEqual([{ minute: ends(2), state: 'OK' }])
    })
  })

  it('each have an incident here', () => {
    const ringing = new Set(INCIDENTS.flatMap(([, , rung]) => Object.keys(rung)))
    expect(alarms().filter((name) => !ringing.has(name))).toEqual(['DriftOrLoss', 'AuditFindings', 'AuditIncomplete'])
  })
})
