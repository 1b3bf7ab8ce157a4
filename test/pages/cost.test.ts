import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../infra/deploy/settings.ts'
import { read, tableRows } from './pages.ts'
import { idlePrices, SCALE, sandboxPrices } from './store-prices.ts'

const PAGE = 'docs/cost.md'

describe(PAGE, () => {
  const table = tableRows(PAGE, '## A small file (one CopyObject)')
  const dollars = (cell = '') => Number(/\$([\d.]+)/.exec(cell)?.[1])
  const total = dollars(table.at(-1)?.at(-1))

  it('has the price of a small file that docs/performance.md has', () => {
    const row = tableRows('docs/performance.md').find(([what]) => what === 'a million of 1 MiB')
    expect(total).toBe(dollars(row?.[2]))
  })

  it('adds up, but for the rounding of each line', () => {
    const lines = table.slice(1, -1).map((cells) => dollars(cells.at(-1)))
    expect(lines.length).toBeGreaterThan(5)
    expect(Math.abs(lines.reduce((sum, line) => sum + line, 0) - total)).toBeLessThan(0.005 * lines.length)
  })

  it('has the price of a month without calls, as computed, and README has it, too', () => {
    const rows = tableRows(PAGE, '## When nobody calls it').map(
      (cells) => [cells[0] ?? '', dollars(cells.at(-1))] as const,
    )
    const { Component: _, Alarms = 0, '**Together**': together = 0, ...others } = Object.fromEntries(rows)
    const computed = Object.entries(idlePrices()).map(([component, price]) => [component, Number(price.toFixed(2))])
    expect(others).toEqual(Object.fromEntries(computed))
    expect(together).toBeCloseTo(Object.values(others).reduce((sum, price) => sum + price, Alarms))
    expect(read('README.md').replace(/\s+/g, ' ')).toContain(`costs some $${Math.round(together)} a month`)
  })

  it('has the price of sandboxes, as computed with their settings', () => {
    const rows = tableRows(PAGE, '## Sandboxes').slice(1)
    const computed = Object.entries(sandboxPrices()).map(([what, price]) => [what, Number(price.toFixed(2))])
    expect(rows.map(([what, , together]) => [what, dollars(together)])).toEqual(computed)
    expect(SCALE.sandboxDays).toBe(SETTINGS.sandboxDays?.default)
  })

  it('has the same parts in the formula for large files', () => {
    const time = dollars(table.find(([component]) => component === 'Lambda, time')?.at(-1))
    const copy = dollars(table.find(([component]) => component === 'S3, copy')?.at(-1))
    expect(read(PAGE)).toContain(`dollars per million = ${(total - time - copy).toFixed(2)} +`)
  })
})
