import { expect, it } from 'vitest'
import { FINDING_KINDS } from '../../lib/audit/findings.ts'
import { REASONS } from '../../lib/errors.ts'
import { METRICS } from '../../lib/metrics.ts'
import { OPERATIONS } from '../support/api/operations.ts'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/performance.md'
const dollars = (cell = '') => Number(/\$([\d.]+)/.exec(cell)?.[1])

it.each([
  ['## What it costs', 5],
  ['### When nobody calls it', 4],
])('prices add up, but for the rounding of each line: %s', (heading, least) => {
  const prices = tableRows(PAGE, heading)
    .slice(1)
    .map((cells) => dollars(cells.at(-1)))
  const total = prices.pop() ?? Number.NaN
  expect(prices.length).toBeGreaterThan(least)
  expect(Math.abs(prices.reduce((sum, price) => sum + price, -total))).toBeLessThan(0.005 * prices.length)
})

it('README has the price of a month without calls', () => {
  const [, total] = tableRows(PAGE, '### When nobody calls it').at(-1) ?? []
  expect(read('README.md').replace(/\s+/g, ' ')).toContain(`costs some $${Math.round(dollars(total))} a month`)
})

it('custom metrics, at $0.30 each, cost no more than the page says', () => {
  const counts = [METRICS, FINDING_KINDS, OPERATIONS, REASONS].map((names) => Object.keys(names).length)
  const [, most] = tableRows(PAGE).find(([what]) => what?.startsWith('Custom metrics, $0.30 each')) ?? []
  expect(dollars(most)).toBeGreaterThan(0.3 * counts.reduce((sum, count) => sum + count))
})
