import { describe, expect, it } from 'vitest'
import { METRICS } from '../../lib/metrics.ts'
import { problemsInDashboard } from '../support/template/dashboard-schema.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { NAMESPACE } from '../support/template/metric-names.ts'
import { packagedService } from '../support/template/packages.ts'

interface Widget {
  type: string
  x: number
  y: number
  width: number
  height: number
  properties: { title: string; alarms: string[]; metrics: [string, ...unknown[]][] }
}

const prod = await packagedService('prod')
const text = textOf(prod.resource('Dashboard').Properties.DashboardBody, { 'AWS::Region': 'us-east-1' })
const widgets: Widget[] = JSON.parse(text).widgets

describe('the dashboard', () => {
  it('has the structure that CloudWatch documents', () => {
    expect(problemsInDashboard(JSON.parse(text))).toEqual([])
  })

  it('puts no widget over another, nor over the edge of the 24 columns', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from({ length: width * height }, (_, cell) => `${x + (cell % width)},${y + Math.floor(cell / width)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { x, width } of widgets) expect(x + width).toBeLessThanOrEqual(24)
  })

  it('shows metrics that the service emits, of this service', () => {
    const lines = widgets.flatMap(({ properties }) => properties.metrics ?? [])
    const plain = lines.filter(([namespace]) => namespace === NAMESPACE)
    for (const [, , dimension, value] of plain) {
      expect([dimension, value]).toEqual(['service', 'container-file-promotion-prod'])
    }
    const searched = [...text.matchAll(/MetricName=\\"(\w+)\\" service=\\"container-file-promotion-prod\\"/g)]
    const shown = [...plain.map(([, name]) => name), ...searched.map(([, name]) => name)]
    expect(shown.length).toBeGreaterThan(20)
    for (const name of shown) expect(METRICS).toHaveProperty(String(name))
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
