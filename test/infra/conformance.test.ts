import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REASONS } from '../../lib/errors.ts'
import { OPENAPI } from '../support/openapi.ts'

const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
const tableRows = (file: string) =>
  read(file)
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) => line.slice(2, -2).split(' | '))

describe('docs/conformance.md', () => {
  const rows = tableRows('docs/conformance.md').filter(([rule]) => rule !== 'Rule' && rule !== 'Decision')

  it('covers every section of the interface', () => {
    const sections = new Set(rows.flatMap(([rule]) => /^§(\d)/.exec(rule ?? '')?.[1] ?? []))
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

describe('docs/errors.md', () => {
  const rows = tableRows('docs/errors.md').map(
    ([status, reason]) => [reason?.replaceAll('`', ''), Number(status)] as const,
  )

  it('explains every reason of the API description, with its status', () => {
    const documented = new Map(rows.filter(([reason]) => reason !== 'reason' && reason !== undefined))
    expect(new Set(documented.keys())).toEqual(new Set(OPENAPI.components.schemas.Reason.enum))
    for (const [reason, { status }] of Object.entries(REASONS)) expect(documented.get(reason), reason).toBe(status)
  })
})
