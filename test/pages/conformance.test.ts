import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPERATIONS_OF_PAGE } from './openapi-operations.ts'
import { ROOT, read } from './pages.ts'

const PAGE = 'docs/conformance.md'
/** The rule, the file of its tests and, where the file has others, the beginnings of their titles. */
const LINE = /^- (.+?): (\S+)(?: › (.+))?$/

describe(PAGE, () => {
  const lines = read(PAGE)
    .replaceAll('\n  ', ' ')
    .split('\n')
    .filter((line) => line.startsWith('- '))
  const tests = lines.map((line) => {
    const [, rule = line, file = '', titles] = LINE.exec(line) ?? []
    return { rule, file, titles: titles?.split('; ') ?? [] }
  })

  it('has a line for every operation and every status of an error', () => {
    const rules = tests.map(({ rule }) => rule).join('\n')
    const ids = OPERATIONS_OF_PAGE.map(({ operationId }) => `\`${operationId}\``)
    const statuses = OPERATIONS_OF_PAGE.flatMap(({ responses }) =>
      Object.keys(responses).filter((each) => each >= '400'),
    )
    expect(ids.length).toBeGreaterThan(5)
    expect([...new Set([...ids, ...statuses])].filter((name) => !rules.includes(name))).toEqual([])
  })

  it.each(tests)('names tests that exist for $rule: $file $titles', ({ file, titles }) => {
    expect(file).toMatch(/^test\/.*\.(test|contract)\.ts$/)
    expect(existsSync(join(ROOT, file)), file).toBe(true)
    // A title is a string of any kind of quotes; an apostrophe in it may be escaped.
    const source = read(file).replaceAll("\\'", "'")
    const missing = titles.filter((title) => !["'", '"', '`'].some((quote) => source.includes(quote + title)))
    expect(missing, `${PAGE}: no title in ${file} begins like this`).toEqual([])
  })
})
