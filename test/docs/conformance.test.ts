import { describe, expect, it } from 'vitest'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/conformance.md'

describe(PAGE, () => {
  const rows = tableRows(PAGE).filter(([rule]) => rule !== 'Rule')
  const tests = rows.flatMap(([rule = '', cell = '']) => {
    const [file = '', titles = ''] = cell.split(' › ')
    return titles.split('; ').map((title) => ({ rule, file, title }))
  })

  it('covers every section of the interface', () => {
    const sections = new Set(rows.flatMap(([rule = '']) => [...rule.matchAll(/§(\d)/g)].map(([, section]) => section)))
    expect([...sections].toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it.each(tests)('names a test that exists for $rule: $file › $title', ({ file, title }) => {
    expect(file).toMatch(/^test\/.*\.ts$/)
    expect(title).not.toBe('')
    // A title is a string of any kind of quotes; an apostrophe in it may be escaped.
    const source = read(file).replaceAll("\\'", "'")
    const isThere = ["'", '"', '`'].some((quote) => source.includes(quote + title))
    expect(isThere, `${PAGE}: no title in ${file} begins with "${title}"`).toBe(true)
  })
})
