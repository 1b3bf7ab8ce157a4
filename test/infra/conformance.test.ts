import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REASONS } from '../../lib/errors.ts'
import { DOCUMENTED_REASONS, type DocumentedOperation, expectDocumented, OPENAPI } from '../support/openapi.ts'

const NO_HEADERS = { 'x-request-id': 'x', 'cache-control': 'no-store' }
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
    expect(new Set(documented.keys())).toEqual(new Set(DOCUMENTED_REASONS))
    for (const [reason, { status }] of Object.entries(REASONS)) expect(documented.get(reason), reason).toBe(status)
  })
})

describe('docs/openapi.yaml', () => {
  it('types the facts of an error by its reason, so that generated clients can narrow by it', () => {
    const schemas: Record<string, { required?: string[]; properties?: Record<string, object> }> =
      OPENAPI.components.schemas
    const forms: { $ref?: string; type?: string }[] = schemas.Error?.properties?.error
      ? (schemas.Error.properties.error as { properties: { metadata: { oneOf: object[] } } }).properties.metadata.oneOf
      : []
    const named = forms.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])
    expect(named.toSorted()).toEqual(
      Object.keys(schemas)
        .filter((name) => name.endsWith('Metadata'))
        .toSorted(),
    )
    for (const name of named) {
      expect(schemas[name]?.required, name).toEqual(expect.arrayContaining(['reason', 'detail']))
      const reason = schemas[name]?.properties?.reason ?? {}
      expect('enum' in reason || 'const' in reason, name).toBe(true)
    }
    expect(new Set(DOCUMENTED_REASONS).size).toBe(DOCUMENTED_REASONS.length)
  })

  it.each(['400', '401', '404'])('has an example of every reason of a %s', (status) => {
    const shown = new Set<string>()
    for (const { operation, body } of examplesOf(status)) {
      expectDocumented({ status: Number(status), headers: NO_HEADERS, body }, operation)
      expect(body.error.code).toBe(Number(status))
      shown.add(body.error.metadata.reason)
    }
    const reasons = Object.entries(REASONS).filter(([, row]) => row.status === Number(status))
    for (const [reason] of reasons) expect(shown).toContain(reason)
  })
})

interface ErrorBody {
  error: { code: number; metadata: { reason: string } }
}

/** Of all operations, those that several share among them. */
function examplesOf(status: string): { operation: DocumentedOperation; body: ErrorBody }[] {
  return Object.entries<object>(OPENAPI.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      if (responses[status] === undefined) return []
      const { $ref } = responses[status]
      const response = $ref === undefined ? responses[status] : OPENAPI.components.responses[$ref.split('/').at(-1)]
      const { example, examples = {} } = response.content['application/json']
      const bodies = Object.values<{ value: ErrorBody }>(examples).map(({ value }) => value)
      const operation = { method: method as DocumentedOperation['method'], path }
      return [...bodies, ...(example === undefined ? [] : [example])].map((body) => ({ operation, body }))
    }),
  )
}
