import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT, read, tableRows } from './pages.ts'

const PAGE = 'docs/glossary.md'
const entriesOf = (heading: string) => tableRows(PAGE, heading).filter(([word]) => word !== 'Word')
const LEDGER = entriesOf('## The ledger')
const AUDIT = entriesOf('## The audit')

/** The code's words: `handOver` and `late_copy` are two each. */
const CODE = globSync('lib/{ledger,audit}/**/*.ts', { cwd: ROOT })
  .map(read)
  .join('\n')
  .replace(/([a-z])([A-Z])/g, '$1 $2')
  .replaceAll(/[\s_*-]+/g, ' ')
  .toLowerCase()

describe(PAGE, () => {
  it('has at most 26 words of the ledger and 14 of the audit, each once', () => {
    const words = [...LEDGER, ...AUDIT].map(([word]) => word)
    expect(new Set(words).size).toBe(words.length)
    expect([LEDGER.length > 0, LEDGER.length <= 26]).toEqual([true, true])
    expect([AUDIT.length > 0, AUDIT.length <= 14]).toEqual([true, true])
  })

  it.each([...LEDGER, ...AUDIT])('%s: is a word of lib/ledger or lib/audit', (word = '', meaning = '') => {
    expect(CODE).toMatch(new RegExp(`\\b${word}`))
    expect(meaning.length).toBeGreaterThan(20)
  })
})
