import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ALL_REASONS } from '../../infra/deploy/gateway-responses.ts'
import { REASONS, type Reason } from '../../lib/errors.ts'
import { entryOf, OPERATIONS, type OperationName } from '../../lib/http/operations.ts'
import { DOCUMENTED_REASONS, expectDocumented, OPENAPI } from '../support/api/openapi.ts'
import { writeIntoErrors, writeIntoOpenapi } from '../support/api/write-reasons.ts'
import { examplesOf, OPERATIONS_OF_PAGE } from './openapi-operations.ts'
import { ROOT, read, tableRows } from './pages.ts'

interface ErrorBody {
  error: { code: number; metadata: { reason: string } }
}

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

describe('docs/errors.md', () => {
  it('has a line for every reason of lib/errors.ts, in its order, with its status; -u writes it', async () => {
    await expect(writeIntoErrors(read('docs/errors.md'))).toMatchFileSnapshot(join(ROOT, 'docs/errors.md'))
  })

  it('explains every reason, and says what to do', () => {
    const rows = tableRows('docs/errors.md').filter(([status]) => status !== 'Status')
    for (const cells of rows) expect(cells, 'docs/errors.md').not.toContain('?')
    const documented = rows.map(([status, reason]) => `${status} ${reason?.replaceAll('`', '')}`)
    expect(documented.toSorted()).toEqual(ALL.map((reason) => `${statusOf(reason)} ${reason}`).toSorted())
  })
})

describe('docs/openapi.yaml', () => {
  it('has every reason, and the sentences of lib/errors.ts; -u writes them', async () => {
    const written = writeIntoOpenapi(read('docs/openapi.yaml'), DOCUMENTED_REASONS)
    await expect(written).toMatchFileSnapshot(join(ROOT, 'docs/openapi.yaml'))
    expect(new Set(DOCUMENTED_REASONS)).toEqual(new Set(ALL))
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
