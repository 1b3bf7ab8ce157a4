import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT, read, tableRows } from './pages.ts'

const PAGE = 'docs/glossary.md'
/** A line may explain some words together. */
const entriesOf = (heading: string) =>
  tableRows(PAGE, heading).flatMap(([words = '', meaning = '']) =>
    words === 'Word' ? [] : words.split(', ').map((word) => [word, meaning] as const),
  )
const LEDGER = entriesOf('## The ledger')
const AUDIT = entriesOf('## The audit')

/** The code's words: `nameRefund` and `promotion_in_progress` are more than one. */
const CODE = globSync('lib/{promotion,ledger,audit}/**/*.ts', { cwd: ROOT })
  .map(read)
  .join('\n')
  .replace(/([a-z])([A-Z])/g, '$1 $2')
  .replaceAll(/[\s_*-]+/g, ' ')
  .toLowerCase()

describe(PAGE, () => {
  it('has at most 26 words, each once', () => {
    const words = [...LEDGER, ...AUDIT].map(([word]) => word)
    expect(new Set(words).size).toBe(words.length)
    expect([LEDGER.length > 0, AUDIT.length > 0, words.length <= 26]).toEqual([true, true, true])
  })

  it.each([...LEDGER, ...AUDIT])('%s: is a word of the code', (word, meaning) => {
    expect(CODE).toMatch(new RegExp(`\\b${word}`))
    expect(meaning.length).toBeGreaterThan(20)
  })
})
