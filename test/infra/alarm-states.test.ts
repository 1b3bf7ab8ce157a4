import { beforeAll, describe, expect, it } from 'vitest'
import { type Alarm, changesOf, type Datapoint, type Traffic } from '../support/alarms/alarm-states.ts'
import type { EmptyFill } from '../support/alarms/metric-math.ts'
import { API_FUNCTION_NAMES } from '../support/package/functions.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

const HOUR = 60
const DAY = 24 * HOUR
const INVOCATIONS = 'Invocations/container-file-promotion-prod-resolve-reservations'
const ERRORS = 'Errors/container-file-promotion-prod-resolve-reservations'
const PAGE = JSON.stringify([{ Ref: 'AlarmTopic' }])

let prod: Packaged
beforeAll(async () => {
  prod = await packagedService('prod')
}, PACKAGING_TIMEOUT_MS)

const minutes = (from: number, to: number, every = 1) =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / every)) }, (_, i) => from + i * every)
const each = (at: number[], value: number, more?: Partial<Datapoint>): Datapoint[] =>
  at.map((minute) => ({ minute, value, ...more }))

/** What the gateway counts. @param failed by minute */
function requests(counts: Record<number, number>, failed: Record<number, number>): Traffic {
  const points = Object.entries(counts).map(([minute, value]) => ({ minute: Number(minute), value }))
  return { Count: points, '5XXError': points.map(({ minute }) => ({ minute, value: failed[minute] ?? 0 })) }
}
const steady = (at: number[], value: number) => Object.fromEntries(at.map((minute) => [minute, value]))

/** The resolver's four runs a minute, each over some seconds after it began. */
const runs = (at: number[], seenAfter = 1) => ({
  [INVOCATIONS]: each(at, 4, { seenAfter }),
  [ERRORS]: each(at, 0, { seenAfter }),
})

describe.each<EmptyFill>(['filled', 'empty'])('alarms, where FILL leaves a metric without data %s', (emptyFill) => {
  const alarmOf = (name: string): Alarm => prod.resource(`${name}Alarm`).Properties
  /** The minutes in which an alarm goes off. */
  const goesOff = (name: string, traffic: Traffic, untilMinute = 2 * HOUR) =>
    changesOf(alarmOf(name), traffic, { untilMinute, emptyFill }).flatMap(({ minute, state }) =>
      state === 'ALARM' ? [minute] : [],
    )
  const stateAfter = (name: string, traffic: Traffic, untilMinute: number) =>
    changesOf(alarmOf(name), traffic, { untilMinute, emptyFill }).at(-1)?.state
  const paging = () =>
    prod
      .idsOfType('AWS::CloudWatch::Alarm')
      .filter((id) => JSON.stringify(prod.resource(id).Properties.AlarmActions) === PAGE)
      .map((id) => id.replace(/Alarm$/, ''))

  it.each([1, 2, 4])('page nobody on a first deployment, with data that are %d minutes late', (seenAfter) => {
    expect(paging()).toEqual(expect.arrayContaining(['ServerErrorRate', 'ResolverFailing', 'Drift', 'LostDocuments']))
    for (const first of [0, 1, 4, 7]) {
      const traffic = runs(minutes(first, HOUR), seenAfter)
      for (const name of paging()) expect([name, first, goesOff(name, traffic, HOUR)]).toEqual([name, first, []])
    }
  })

  describe('of failed requests', () => {
    it('wake nobody for a single 500, however few requests there are', () => {
      for (const perMinute of [1, 5, 100]) {
        const traffic = requests(steady(minutes(0, HOUR), perMinute), { 30: 1 })
        for (const name of paging())
          expect([name, goesOff(name, { ...runs(minutes(0, HOUR)), ...traffic }, HOUR)]).toEqual([name, []])
      }
      expect(goesOff('ServerErrorRate', requests({ 30: 1 }, { 30: 1 }))).toEqual([])
    })

    it.each([
      ['one a minute, all failing', minutes(30, 60), 31],
      ['two, some minutes apart', [30, 38], 38],
      ['three, over a quarter of an hour', [30, 37, 44], 37],
    ])('show an outage of a quiet stage: %s', (_, failing, shown) => {
      expect(goesOff('ServerErrorRate', requests(steady(failing, 1), steady(failing, 1)))).toEqual([shown])
    })

    it('show two failed requests among the few of a quiet stage', () => {
      expect(goesOff('ServerErrorRate', requests(steady(minutes(0, HOUR), 3), { 30: 1, 36: 1 }), HOUR)).toEqual([36])
    })

    it('show an outage of a busy stage in its second minute, also of the tenth that goes to a new version', () => {
      const busy = steady(minutes(0, HOUR), 600)
      expect(goesOff('ServerErrorRate', requests(busy, steady(minutes(30, HOUR), 600)), HOUR)).toEqual([31])
      expect(goesOff('ServerErrorRate', requests(busy, steady(minutes(30, 35), 60)), HOUR)).toEqual([31])
    })

    it('are silent about the rare failures that a busy stage may have', () => {
      const failed = steady(minutes(0, HOUR, 3), 6)
      expect(goesOff('ServerErrorRate', requests(steady(minutes(0, HOUR), 600), failed), HOUR)).toEqual([])
    })

    it('are over after the repair, and show the next incident', () => {
      const failing = [...minutes(30, 40), ...minutes(90, 100)]
      const traffic = requests(steady(failing, 5), steady(failing, 5))
      expect(goesOff('ServerErrorRate', traffic)).toEqual([31, 91])
      expect(stateAfter('ServerErrorRate', traffic, 2 * HOUR)).toBe('OK')
    })

    it('take a traffic shift back at the first fault of ours, and leave a note of it for the morning', () => {
      const traffic = { Failures: each([30], 1), Errors: each([30], 1) }
      for (const name of ['Failures', 'PromoteContainerFileErrors']) {
        expect([name, goesOff(name, traffic)]).toEqual([name, [30]])
        expect([name, stateAfter(name, traffic, HOUR)]).toEqual([name, 'OK'])
        expect(paging()).not.toContain(name)
      }
    })

    it('spend the budget of a quiet stage, too', () => {
      expect(goesOff('ErrorBudget', requests(steady(minutes(0, DAY, 5), 1), { 300: 1 }), DAY)).toEqual([])
      const failing = [300, 360, 420]
      expect(goesOff('ErrorBudget', requests(steady(minutes(0, DAY, 5), 1), steady(failing, 1)), DAY)).toEqual([420])
      const busy = steady(minutes(0, DAY), 100)
      expect(goesOff('ErrorBudget', requests(busy, steady(minutes(0, DAY, 2), 1)), DAY)).toEqual([])
    })
  })

  describe('of the resolver', () => {
    const UNTIL = 3 * HOUR

    const change = (traffic: Traffic, by: (all: readonly Datapoint[]) => Datapoint[]) =>
      Object.fromEntries(Object.entries(traffic).map(([name, all]) => [name, by(all)]))
    const late = (all: readonly Datapoint[]) =>
      all.map((point) => ({ ...point, seenAfter: point.minute === 60 ? 4 : 1 }))

    it('are silent when a minute comes late, or never, and a run fails beside it', () => {
      const all = runs(minutes(0, UNTIL))
      const lost = (points: readonly Datapoint[]) => points.filter(({ minute }) => minute !== 60)
      for (const by of [late, lost]) {
        for (const failedAt of [57, 62, 66]) {
          const traffic = { ...change(all, by), [ERRORS]: each([failedAt], 1) }
          expect([failedAt, goesOff('ResolverFailing', traffic, UNTIL)]).toEqual([failedAt, []])
        }
      }
    })

    it('show within a quarter of an hour that a group of shards is left out, or that nothing runs', () => {
      const [without] = goesOff(
        'ResolverFailing',
        {
          ...runs(minutes(0, UNTIL)),
          [INVOCATIONS]: [...each(minutes(0, 60), 4), ...each(minutes(60, UNTIL), 3)],
        },
        UNTIL,
      )
      expect(without).toBeLessThanOrEqual(75)
      const [stopped] = goesOff('ResolverFailing', runs(minutes(0, 60)), UNTIL)
      expect(stopped).toBeLessThanOrEqual(75)
    })

    it('stay on for as long as nothing runs, and are over soon after the repair', () => {
      expect(stateAfter('ResolverFailing', runs(minutes(0, 60)), 2 * DAY)).toBe('ALARM')
      const repaired = runs([...minutes(0, 60), ...minutes(DAY, DAY + HOUR)])
      expect(stateAfter('ResolverFailing', repaired, DAY + 12)).toBe('OK')
      expect(goesOff('ResolverFailing', repaired, DAY + HOUR)).toHaveLength(1)
    })
  })

  it.each([
    ['Drift', 'AuditFindings/drift'],
    ['LostDocuments', 'AuditFindings/document_without_object'],
    ['AuditFindings', 'AuditFindings'],
    ['AuditIncomplete', 'AuditShardsIncomplete'],
  ])(
    '%s goes off once for each round that finds something, at whatever hour, and is over by the next',
    (name, metric) => {
      // Two workspaces in each of the first two rounds, one after the repair.
      const found = [100, 130, DAY + 90, DAY + 125, 3 * DAY + 40]
      const traffic = { [metric]: each(found, 1) }
      expect(goesOff(name, traffic, 4 * DAY)).toEqual([100, DAY + 90, 3 * DAY + 40])
      expect(stateAfter(name, traffic, 4 * DAY)).toBe('OK')
    },
  )

  it('LedgerThrottles is over when nothing is throttled any more, and goes off again', () => {
    const traffic = { WriteThrottleEvents: each([30, 90], 20) }
    expect(goesOff('LedgerThrottles', traffic)).toEqual([30, 90])
  })

  it('PromotionLatency shows a quiet stage whose requests are all slow', () => {
    expect(alarmOf('PromotionLatency').EvaluateLowSampleCountPercentile).toBe('evaluate')
    expect(goesOff('PromotionLatency', { Latency: each(minutes(30, 60), 20_000) }, HOUR)).toHaveLength(1)
  })

  it('of the concurrency go off before requests are turned away, and when they are', () => {
    expect(goesOff('Concurrency', { ResourceCount: each(minutes(0, HOUR), 500) })).toEqual([])
    expect(goesOff('Concurrency', { ResourceCount: each(minutes(0, HOUR), 900) })).toHaveLength(1)
    for (const name of API_FUNCTION_NAMES) {
      const throttles = { [`Throttles/container-file-promotion-prod-${name}`]: each([30], 1) }
      expect([name, goesOff('FunctionThrottles', throttles)]).toEqual([name, [30]])
    }
    expect(paging()).not.toContain('FunctionThrottles')
  })
})
