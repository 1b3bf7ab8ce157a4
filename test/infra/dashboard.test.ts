import { beforeAll, describe, expect, it } from 'vitest'
import { METRICS } from '../../lib/metrics.ts'
import { problemsInDashboard } from '../support/package/dashboard-schema.ts'
import { textOf } from '../support/package/intrinsics.ts'
import { NAMESPACE } from '../support/package/metric-names.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

interface Widget {
  type: string
  x: number
  y: number
  width: number
  height: number
  properties: { title: string; alarms: string[]; metrics: [string, ...unknown[]][] }
}

let prod: Packaged
let text: string
let widgets: Widget[]
beforeAll(async () => {
  prod = await packagedService('prod')
  text = textOf(prod.resource('Dashboard').Properties.DashboardBody, { 'AWS::Region': 'us-east-1' })
  widgets = JSON.parse(text).widgets
}, PACKAGING_TIMEOUT_MS)

describe('the dashboard', () => {
  it('has the structure that CloudWatch documents', () => {
    expect(problemsInDashboard(JSON.parse(text))).toEqual([])
  })

  it.each([
    ['a widget of another type', (body: Widget[]) => Object.assign(body[0] as Widget, { type: 'metrics' })],
    ['a metric without a name', (body: Widget[]) => body[1]?.properties.metrics.push(['AWS/Lambda'])],
    ['an unknown property', (body: Widget[]) => Object.assign(body[1]?.properties ?? {}, { titel: 'x' })],
    ['a widget beyond the grid', (body: Widget[]) => Object.assign(body[1] as Widget, { x: 24 })],
  ])('would be refused with %s', (_, spoil) => {
    const body = JSON.parse(text)
    spoil(body.widgets)
    expect(problemsInDashboard(body)).not.toEqual([])
  })

  it('puts no widget over another, nor over the edge of the 24 columns', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from({ length: width * height }, (_, cell) => `${x + (cell % width)},${y + Math.floor(cell / width)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { x, width } of widgets) expect(x + width).toBeLessThanOrEqual(24)
  })

  it('shows every metric that the service emits, of this service, and no other', () => {
    const lines = widgets.flatMap(({ properties }) => properties.metrics ?? [])
    const plain = lines.filter(([namespace]) => namespace === NAMESPACE)
    for (const [, , dimension, value] of plain) {
      expect([dimension, value]).toEqual(['service', 'container-file-promotion-prod'])
    }
    const searched = [...text.matchAll(/MetricName=\\"(\w+)\\" service=\\"container-file-promotion-prod\\"/g)]
    const shown = [...plain.map(([, name]) => name), ...searched.map(([, name]) => name)]
    expect(new Set(shown)).toEqual(new Set(Object.keys(METRICS)))
  })

  it('shows every alarm', () => {
    const shown = widgets.flatMap(({ properties }) => properties.alarms ?? [])
    expect(shown.toSorted()).toEqual(
      prod
        .idsOfType('AWS::CloudWatch::Alarm')
        .map((id) => `<${id}.Arn>`)
        .toSorted(),
    )
  })
})
