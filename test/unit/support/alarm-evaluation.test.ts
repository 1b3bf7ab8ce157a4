import { describe, expect, it } from 'vitest'
import { type AlarmState, stateOf } from '../../support/template/alarm-states.ts'
import { type EmptyFill, evaluate } from '../../support/template/metric-math.ts'

describe('the state of an alarm whose data are missing', () => {
  const BREACHES = { 0: false, X: true, '-': undefined }
  const TREATMENTS = ['missing', 'ignore', 'breaching', 'notBreaching'] as const
  const RETAINED: AlarmState = 'INSUFFICIENT_DATA'

  // The tables of the CloudWatch user guide, "How alarm state is evaluated when data is missing".
  it.each<[number, string, AlarmState[]]>([
    [3, '0-X-X', ['OK', 'OK', 'OK', 'OK']],
    [3, '0----', ['OK', 'OK', 'OK', 'OK']],
    [3, '-----', ['INSUFFICIENT_DATA', RETAINED, 'ALARM', 'OK']],
    [3, '0XX-X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    [3, '--X--', ['ALARM', RETAINED, 'ALARM', 'OK']],
    [2, '0-X-X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    [2, '00X0X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    [2, '0-X--', ['OK', 'OK', 'ALARM', 'OK']],
    [2, '----0', ['OK', 'OK', 'ALARM', 'OK']],
    [2, '---X-', ['ALARM', RETAINED, 'ALARM', 'OK']],
  ])('is, for %d of three, after %s, as AWS documents it', (datapointsToAlarm, points, expected) => {
    const breaches = [...points].map((point) => BREACHES[point as keyof typeof BREACHES])
    const states = TREATMENTS.map((treatMissingData) =>
      stateOf(breaches, { evaluationPeriods: 3, datapointsToAlarm, treatMissingData }, RETAINED),
    )
    expect(states).toEqual(expected)
  })
})

describe('metric math', () => {
  const _ = undefined
  const metrics = { a: [_, 1, _, 3], b: [2, 2, 0, 2], none: [_, _, _, _] }
  const math = (expression: string, emptyFill: EmptyFill = 'filled') =>
    evaluate(expression, metrics, { emptyFill, quota: 10 })

  it.each([
    ['a + b', [_, 3, _, 5]],
    ['1 / b', [0.5, 0.5, _, 0.5]],
    ['FILL(a, REPEAT)', [_, 1, 1, 3]],
    ['IF(b >= 2, 100 * b, 7)', [200, 200, 7, 200]],
    ['SUM(METRICS())', [2, 3, 0, 5]],
    ['SUM(METRICS("b"))', [2, 2, 0, 2]],
    ['b + (a > 2)', [_, 2, _, 3]],
    ['100 * b / (SERVICE_QUOTA(b) - MAX([b, 1]))', [25, 25, 0, 25]],
    ['FILL(none, 0) - 1', [-1, -1, -1, -1]],
  ])('%s', (expression, expected) => {
    expect(math(expression)).toEqual(expected)
  })

  it('of a metric that has no value at all: AWS does not say what FILL makes of it, so both are tried', () => {
    expect(math('FILL(none, 0)', 'empty')).toEqual(metrics.none)
  })

  it.each(['c + 1', 'RATE(a)', 'a +', 'a b', 'a % b'])('refuses %s', (expression) => {
    expect(() => math(expression)).toThrow()
  })
})
