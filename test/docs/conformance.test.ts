import { describe, expect, it } from 'vitest'
import { OPENAPI } from '../support/http/openapi.ts'
import { read, tableRows } from './pages.ts'

const PAGE = 'docs/conformance.md'

describe(PAGE, () => {
  const rows = tableRows(PAGE).filter(([rule]) => rule !== 'Rule')
  const tests = rows.flatMap(([rule = '', cell = '']) => {
    const [file = '', titles = ''] = cell.split(' › ')
    return titles.split('; ').map((title) => ({ rule, file, title }))
  })

  it('has a row for every operation and every status of an error', () => {
    const rules = rows.map(([rule]) => rule).join('\n')
    const operations = Object.values<Record<string, { operationId: string; responses: object }>>(OPENAPI.paths).flatMap(
      (path) => Object.values(path).filter(({ operationId }) => operationId !== undefined),
    )
    const ids = operations.map(({ operationId }) => `\`${operationId}\``)
    const statuses = operations.flatMap(({ responses }) => Object.keys(responses).filter((status) => status >= '400'))
    expect(ids.length).toBeGreaterThan(5)
    expect([...new Set([...ids, ...statuses])].filter((name) => !rules.includes(name))).toEqual([])
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
