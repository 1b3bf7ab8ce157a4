import { describe, expect, it } from 'vitest'
import { ALL_REASONS } from '../../infra/deploy/gateway-responses.ts'
import { REASONS, type Reason, ServiceError } from '../../lib/errors.ts'
import { entryOf, OPERATIONS, type OperationName } from '../../lib/http/operations.ts'
import { DOCUMENTED_REASONS, expectDocumented, OPENAPI } from '../support/api/openapi.ts'
import { examplesOf, OPERATIONS_OF_PAGE, shownWith } from './openapi-operations.ts'
import { read, tableRows } from './pages.ts'

interface ErrorBody {
  error: { code: number; message: string; metadata: { reason: string; detail: string } }
}

/** Reasons whose sentence says what is wrong with the request at hand. */
const WITH_OWN_SENTENCES: ReadonlySet<string> = new Set<Reason>([
  'malformed_authorization',
  'invalid_precondition',
  'permission_denied',
  'invalid_file_id',
  'invalid_body',
  'invalid_limit',
  'invalid_parameter',
  'unsupported_parameter',
  'file_not_downloadable',
])

const NO_HEADERS = { 'x-request-id': 'x', 'request-id': 'x', 'cache-control': 'no-store', 'retry-after': '1' }
const ALL = Object.keys(ALL_REASONS)
const statusOf = (reason: string) => ALL_REASONS[reason as keyof typeof ALL_REASONS]?.status

it('lib/errors.ts says of whatever a look at the file may answer that a faster twin may have caused it', () => {
  const looks = 'containers/require-container-file aws/s3/container-file promotion/promote-container-file'.split(' ')
  const sources = looks.map((name) => read(`lib/${name}.ts`)).join()
  const reasons = [...sources.matchAll(/ServiceError\('(\w+)'/g)].map(([, reason]) => reason as Reason)
  expect(reasons.length).toBeGreaterThan(5)
  expect(reasons.filter((reason) => !('twin' in REASONS[reason]))).toEqual([])
})

it('docs/errors.md has a line for every reason, in the order of lib/errors.ts, with its status, and says what to do', () => {
  const rows = tableRows('docs/errors.md').filter(([status]) => status !== 'Status')
  const documented = rows.map(([status, reason = '']) => `${status} ${reason.replaceAll('`', '')}`)
  // Others are only the gateway's.
  const ofService = documented.slice(0, Object.keys(REASONS).length)
  expect(ofService).toEqual(Object.entries(REASONS).map(([reason, { status }]) => `${status} ${reason}`))
  expect(documented.toSorted()).toEqual(ALL.map((reason) => `${statusOf(reason)} ${reason}`).toSorted())
  for (const cells of rows) expect(cells.slice(2)).not.toContain('')
})

describe('docs/openapi.yaml', () => {
  it('has every reason, and in each example the sentences of lib/errors.ts', () => {
    expect(new Set(DOCUMENTED_REASONS)).toEqual(new Set(ALL))
    const errors = shownWith<ErrorBody['error']>('metadata')
    for (const { code, message, metadata } of errors.filter(({ metadata }) => metadata.reason in REASONS)) {
      const error = new ServiceError(metadata.reason as Reason)
      const detail = WITH_OWN_SENTENCES.has(error.reason) ? error.detail : metadata.detail
      expect([code, message, detail], error.reason).toEqual([error.status, error.message, error.detail])
    }
  })

  it('types the facts of an error by its reason, so that generated clients can narrow by it', () => {
    const schemas: Record<string, { required?: string[]; properties?: Record<string, object> }> =
      OPENAPI.components.schemas
    const forms: { $ref?: string }[] = OPENAPI.components.schemas.Error.properties.error.properties.metadata.oneOf
    const named = forms.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])
    const all = Object.keys(schemas).filter((name) => name.endsWith('Metadata'))
    expect(named.toSorted()).toEqual(all.toSorted())
    for (const name of named) {
      expect(schemas[name]?.required, name).toEqual(expect.arrayContaining(['reason', 'detail']))
      const reason = schemas[name]?.properties?.reason ?? {}
      expect('enum' in reason || 'const' in reason, name).toBe(true)
    }
    expect(new Set(DOCUMENTED_REASONS).size).toBe(DOCUMENTED_REASONS.length)
  })

  it('has an example of every reason, each under its own status and as its schema has it', () => {
    const shown = new Set<string>()
    for (const operation of OPERATIONS_OF_PAGE) {
      for (const { status: text, body } of examplesOf<ErrorBody>(operation)) {
        const status = Number(text)
        if (status < 400) continue
        if (![502, 500].includes(status)) expectDocumented({ status, headers: NO_HEADERS, body }, operation)
        const { code, metadata } = body.error
        expect([code, statusOf(metadata.reason)], metadata.reason).toEqual([status, status])
        shown.add(metadata.reason)
      }
    }
    expect(Object.keys(REASONS).filter((reason) => !shown.has(reason))).toEqual([])
  })

  it('names the permission of each operation', () => {
    for (const { route, for: whom } of (Object.keys(OPERATIONS) as OperationName[]).map(entryOf)) {
      const [method = '', path = ''] = route.split(' ')
      const { description } = OPENAPI.paths[path.replace('/v1', '')][method.toLowerCase()]
      const others = { any: 'Needs no permission', platform: 'Needs a platform key' }
      const said = whom in others ? others[whom as keyof typeof others] : `permission \`${whom}\``
      expect(description.replace(/\s+/g, ' '), `${route} in docs/openapi.yaml`).toContain(said)
    }
  })
})
