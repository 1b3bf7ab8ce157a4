import { describe, expect, it } from 'vitest'
import { type ErrorStatus, REASONS, type Reason } from '../../lib/errors.ts'
import { DOCUMENTED_REASONS, type DocumentedOperation, expectDocumented, OPENAPI } from '../support/http/openapi.ts'
import { expectDocumentedNames, tableRows } from './pages.ts'

const NO_HEADERS = { 'x-request-id': 'x', 'cache-control': 'no-store' }
/** The reasons that only API Gateway gives. */
const OF_THE_GATEWAY: Readonly<Record<string, ErrorStatus>> = {
  route_not_found: 404,
  method_not_allowed: 404,
  request_too_large: 413,
  invalid_request: 400,
  request_blocked: 403,
}
const ALL = [...Object.keys(REASONS), ...Object.keys(OF_THE_GATEWAY)]
const statusOf = (reason: string) => OF_THE_GATEWAY[reason] ?? REASONS[reason as Reason].status

describe('docs/errors.md', () => {
  const rows = tableRows('docs/errors.md').filter(([status]) => status !== 'Status')
  const documented = new Map(rows.map(([status, reason]) => [reason?.replaceAll('`', '') ?? '', Number(status)]))

  it('explains every reason, with its status', () => {
    expectDocumentedNames('docs/errors.md', {
      documented: documented.keys(),
      expected: ALL,
      line: (reason) => `| ${statusOf(reason)} | \`${reason}\` | what happened | what to do |`,
    })
    for (const reason of ALL)
      expect(documented.get(reason), `the status of ${reason} in docs/errors.md`).toBe(statusOf(reason))
  })
})

describe('docs/openapi.yaml', () => {
  it('has every reason in one of its …Metadata schemas', () => {
    expectDocumentedNames('docs/openapi.yaml', {
      documented: DOCUMENTED_REASONS,
      expected: ALL,
      line: (reason) =>
        `${reason}, to the enum \`reason\` of components.schemas.PlainMetadata, or of the schema with its facts`,
    })
  })

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
    expectDocumentedNames('docs/openapi.yaml', {
      documented: reasons.flatMap(([reason]) => (shown.has(reason) ? [reason] : [])),
      expected: reasons.map(([reason]) => reason),
      line: (reason) => `an example of ${reason}, a body with it, to an operation's ${status}`,
    })
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
