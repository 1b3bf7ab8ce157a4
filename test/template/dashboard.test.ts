import { describe, expect, it } from 'vitest'
import { METRICS } from '../../lib/metrics.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { packagedService, type Resource } from '../support/template/packages.ts'

const prod = await packagedService('prod')
const text = textOf(prod.resource('Dashboard').Properties.DashboardBody, { 'AWS::Region': 'us-east-1' })
const widgets: Resource['Properties'][] = JSON.parse(text).widgets

describe('the dashboard', () => {
  it('puts no widget over another, nor over the edge of the 24 columns', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from({ length: width * height }, (_, cell) => `${x + (cell % width)},${y + Math.floor(cell / width)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { x, width } of widgets) expect(x + width).toBeLessThanOrEqual(24)
  })

  it('has lines in each chart, and no expression longer than CloudWatch takes', () => {
    for (const { properties } of widgets) expect((properties.metrics ?? properties.alarms).length).toBeGreaterThan(0)
    const lines = widgets.flatMap(({ properties }) => properties.metrics ?? [])
    const expressions = lines.flatMap(([first]) => (typeof first === 'string' ? [] : [first.expression]))
    expect(expressions.length).toBeGreaterThan(3)
    for (const expression of expressions) expect(expression.length).toBeLessThanOrEqual(1024)
  })

  it('shows every metric that the service emits, of this stage', () => {
    const shown = [...text.matchAll(/"ContainerFilePromotion","(\w+)","service","(.*?)"/g)]
    const searched = [...text.matchAll(/MetricName=\\"(\w+)\\" service=\\"(.*?)\\"/g)]
    const all = [...shown, ...searched]
    expect(new Set(all.map(([, name]) => name))).toEqual(new Set(Object.keys(METRICS)))
    expect(new Set(all.map(([, , stage]) => stage))).toEqual(new Set(['container-file-promotion-prod']))
  })

  it('shows every alarm', () => {
    const shown = widgets.flatMap(({ properties }) => properties.alarms ?? [])
    const alarms = prod.idsOfType('AWS::CloudWatch::Alarm').map((id) => `<${id}.Arn>`)
    expect(shown.toSorted()).toEqual(alarms.toSorted())
  })
})
