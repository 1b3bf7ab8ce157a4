import { describe, expect, it } from 'vitest'
import { read, tableRows } from './pages.ts'

describe('docs/conformance.md', () => {
  const rows = tableRows('docs/conformance.md').filter(([rule]) => rule !== 'Rule' && rule !== 'Decision')

  it('covers every section of the interface', () => {
    const sections = new Set(rows.flatMap(([rule = '']) => [...rule.matchAll(/§(\d)/g)].map(([, section]) => section)))
    expect([...sections].toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it.each(rows.map(([rule = '', test = '']) => ({ rule, test })))('names a test that exists for: $rule', ({ test }) => {
    const [file = '', title = ''] = test.split(' › ')
    expect(file).toMatch(/^test\/.*\.ts$/)
    expect(title).not.toBe('')
    // Titles stand in quotes of any kind; an apostrophe in one may be escaped.
    expect(read(file).replaceAll("\\'", "'")).toContain(title)
  })
})
