import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMetrics, METRICS } from '../../lib/metrics.ts'

/** The embedded metric format lines that were written (CloudWatch user guide, "Embedded metric format specification"). */
function captureLines() {
  const lines: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text))
    return true
  })
  return () => lines.map((line) => JSON.parse(line))
}

afterEach(() => vi.restoreAllMocks())

describe('metrics', () => {
  it('are one line for all values of a request, with the dimension service and their units', () => {
    const lines = captureLines()
    const values = { Promotions: 1, PromotedBytes: 42, CopyTime: 1.5 }
    createMetrics('promotion-test').publish(values)
    expect(lines()).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'ContainerFilePromotion',
              Dimensions: [['service']],
              Metrics: [
                { Name: 'Promotions', Unit: METRICS.Promotions },
                { Name: 'PromotedBytes', Unit: METRICS.PromotedBytes },
                { Name: 'CopyTime', Unit: METRICS.CopyTime },
              ],
            },
          ],
        },
        service: 'promotion-test',
        ...values,
      },
    ])
  })

  it('with a detail are published with and without it, and the next line has none', () => {
    const lines = captureLines()
    const metrics = createMetrics('promotion-test')
    metrics.publish({ Refusals: 1 }, { reason: 'rate_limited' })
    metrics.publish({ Promotions: 1 })
    const [refusal, promotion] = lines()
    expect(refusal).toMatchObject({ service: 'promotion-test', reason: 'rate_limited', Refusals: 1 })
    expect(refusal._aws.CloudWatchMetrics[0].Dimensions).toEqual([['service'], ['service', 'reason']])
    expect(promotion).not.toHaveProperty('reason')
    expect(promotion._aws.CloudWatchMetrics[0].Dimensions).toEqual([['service']])
  })
})
