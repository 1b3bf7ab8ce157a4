import { describe, expect, it } from 'vitest'
import { read, tableRows } from './pages.ts'
import { ITEM_BYTES, promotionsPerSecond, SCALE, storePrices } from './store-prices.ts'

const SIZES = [1e3, 1e6, 1e8]
const PAGE = 'docs/scale.md'

/** Two digits, as the table has them. */
function asDollars(dollars: number): string {
  if (dollars < 0.005) return '< $0.01'
  const rounded = Number(dollars.toPrecision(2))
  return `$${rounded.toLocaleString('en-US', { maximumFractionDigits: rounded < 10 ? 2 : 0 })}`
}

describe(PAGE, () => {
  const rows = tableRows(PAGE, '## What is stored').filter(([store]) => store !== 'Store or stream')

  it('has a row for each store and stream that has a price', () => {
    expect(rows.map(([store]) => store)).toEqual(Object.keys(storePrices(1)))
  })

  it.each(rows.map((row) => ({ store: row[0] ?? '', prices: row.slice(3, 6) })))(
    'prices $store as computed',
    ({ store, prices }) => {
      expect(prices).toEqual(SIZES.map((workspaces) => asDollars(storePrices(workspaces)[store] ?? Number.NaN)))
    },
  )

  it('says what is taken for granted, as it is computed with', () => {
    // Whatever the width of lines.
    const text = read(PAGE).replace(/\s+/g, ' ')
    for (const bytes of [ITEM_BYTES.document, ITEM_BYTES.listing, ITEM_BYTES.tombstone, ITEM_BYTES.workspace]) {
      expect(text).toContain(`${bytes} bytes`)
    }
    const rates = SIZES.map((workspaces) =>
      Number(promotionsPerSecond(workspaces).toPrecision(2)).toLocaleString('en-US'),
    )
    expect(text).toContain(`${rates[0]}, ${rates[1]} and ${rates[2]} promotions a second`)
    expect(text).toContain(`${SCALE.documentsOfWorkspace.toLocaleString('en-US')} documents`)
    expect(text).toContain(`${SCALE.monthsKept} months`)
  })
})
