import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formatCursor } from '../../lib/documents/list-cursor.ts'
import { type DocumentId, formatFileId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import { idOf, WORKSPACE } from '../support/api/idempotent-promotions.ts'
import { invoke } from '../support/api/invoke.ts'
import { type AnyResponse, type DocumentedOperation, OPENAPI, PROMOTE } from '../support/api/openapi.ts'
import { functionOf, OPERATIONS } from '../support/api/operations.ts'
import { type RouteRequest, routeEvent } from '../support/api/rest-event.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'

interface Parameter {
  name: string
  in: 'query' | 'header' | 'path'
  $ref?: string
}
type Verdict = 'used' | 'accepted' | 'refused'

const ALL: Record<string, DocumentedOperation & { success: number; body?: object }> = {
  promote_container_file: { ...PROMOTE, success: 200 },
  ...OPERATIONS,
}
const OPERATIONS_OF_ALL = Object.entries(ALL)
const descriptionOf = ({ method, path }: DocumentedOperation) => OPENAPI.paths[path][method]

/** What docs/openapi.yaml says of an operation's names. This is the table: other names than these are refused. */
const VERDICTS = {
  query: (operation: DocumentedOperation) => parametersOf(operation, 'query'),
  header: (operation: DocumentedOperation) => parametersOf(operation, 'header'),
  body(operation: DocumentedOperation): Map<string, Verdict> {
    const { $ref, properties } = descriptionOf(operation).requestBody?.content['application/json'].schema ?? {}
    const members = $ref ? OPENAPI.components.schemas[$ref.split('/').at(-1)].properties : properties
    return new Map(Object.keys(members ?? {}).map((name) => [name, 'used']))
  },
}
type Place = keyof typeof VERDICTS

function parametersOf(operation: DocumentedOperation, place: 'query' | 'header'): Map<string, Verdict> {
  const all = descriptionOf(operation).parameters.map((own: Parameter): [Parameter, Verdict] => {
    const shared = own.$ref?.split('/').at(-1) ?? ''
    return [OPENAPI.components.parameters[shared] ?? own, shared.startsWith('Accepted') ? 'accepted' : 'used']
  })
  const ofPlace = all.filter(([parameter]: [Parameter]) => parameter.in === place)
  return new Map(ofPlace.map(([{ name }, verdict]: [Parameter, Verdict]) => [name, verdict]))
}

/** What methods of the vendors' libraries know, and no operation of ours. */
const OF_VENDORS = {
  query: 'before before_id scope_id provider name container_id __proto__ Limit'.split(' '),
  header: [],
  body: 'expires_after file file_id file_ids purpose name workspace_id __proto__'.split(' '),
}
/** Libraries, browsers and proxies add these to any request. They change nothing but the shape of an answer. */
const HEADERS_OF_LIBRARIES =
  'anthropic-version anthropic-beta openai-organization openai-project openai-beta HTTP-Referer X-OpenRouter-Title ' +
  'X-OpenRouter-Categories x-stainless-lang'
const HEADERS_OF_HTTP =
  'api-key x-api-key cookie x-stainless-retry-count range if-none-match if-modified-since accept content-type origin ' +
  'x-forwarded-for forwarded via traceparent x-amzn-trace-id cache-control referer from expect'

/** A request that succeeds, to which others are added; and for each name that is used, what is right and what is not. */
async function prepare(operation: (typeof ALL)[string]) {
  const api = createTestApi({ rateLimiter: UNLIMITED })
  const documentId = idOf(await api.promote({})) as DocumentId
  const parameters = { document_id: documentId, container_id: CONTAINER, file_id: formatFileId(PATH) }
  const authorization = `Bearer ${api.managementToken}`
  const send = ({ headers, body, ...more }: RouteRequest) =>
    invoke(api.handlers[functionOf(operation).name], {
      event: routeEvent(operation, {
        parameters,
        ...more,
        headers: { authorization, ...headers },
        body: body ?? operation.body,
      }),
      operation,
    })
  const cursor = formatCursor(WORKSPACE, { createdAt: new Date(NOW_MS), documentId })
  const after = operation === OPERATIONS.list_documents ? documentId : formatFileId('a')
  const sha256 = createHash('sha256').update(CSV).digest('hex')
  const many = Array(101).fill(documentId)
  const values: Record<string, [good: unknown, bad: unknown]> = {
    ...{ limit: ['1', '0'], order: ['asc', 'up'], cursor: [cursor, 'x'], page: [cursor, 'x'], purpose: ['batch', 'x'] },
    ...{ after: [after, 'x'], after_id: [documentId, 'x'], 'ids[]': [documentId, many], ids: [documentId, many] },
    ...{ workspace_id: ['ws_1', 'ws_2'], 'File-Shape': ['native', 'x'], 'Idempotency-Key': ['k', ''] },
    ...{ 'If-Match': ['*', '"'], 'File-Bytes': [String(CSV.length), 'x'], 'File-Sha256': [sha256, 'x'] },
    ...{ Prefer: ['wait=1', ''], 'File-Expires-In': ['3600', '1'], expires_in_seconds: [3600, 1] },
    ...{ prefix: ['', '/'], paths: [[PATH], []] },
  }
  return { api, send, valuesOf: (name: string) => (Object.hasOwn(values, name) && values[name]) || ['x', 'x'] }
}

function requestWith(place: Place, name: string, value: unknown, { body = {} }: { body?: object }): RouteRequest {
  // As JSON.parse does: in a literal, __proto__ would be the prototype.
  const named = JSON.parse(JSON.stringify({ name: value }).replace('name', name))
  if (place === 'query') return { query: named }
  if (place === 'header') return { headers: named }
  return { body: { ...('paths' in body && name !== 'paths' ? { prefix: '' } : {}), ...named } }
}

const detailOf = ({ body }: AnyResponse) =>
  (body as { error: { metadata: { reason: string; parameter?: string; detail: string } } }).error.metadata

describe.each(OPERATIONS_OF_ALL)('%s', (_, operation) => {
  const places = Object.entries(VERDICTS) as [Place, (typeof VERDICTS)[Place]][]
  const cases = places.flatMap(([place, verdictsOf]) => {
    const ofOthers = OPERATIONS_OF_ALL.flatMap(([, each]) => [...verdictsOf(each).keys()])
    const own = verdictsOf(operation)
    return [...new Set([...ofOthers, ...OF_VENDORS[place]])].map(
      (name) => [place, name, own.get(name) ?? 'refused'] as const,
    )
  })

  it.each(cases)('%s %s is %s', async (place, name, verdict) => {
    const { api, send, valuesOf } = await prepare(operation)
    const [good, bad] = valuesOf(name)
    const before = [...api.documents.documents.values()]
    const answer = await send(requestWith(place, name, good, operation))
    if (verdict === 'refused') {
      const { reason, parameter, detail } = detailOf(answer)
      expect([answer.status, reason]).toEqual([400, place === 'body' ? 'invalid_body' : 'unsupported_parameter'])
      if (place !== 'body') expect([parameter, detail]).toEqual([name, expect.stringContaining(` ${name}.`)])
      const known = [...VERDICTS[place](operation)].filter(([, each]) => each === 'used').map(([each]) => each)
      for (const each of place === 'header' ? [PROMOTE.path] : known) expect(detail).toContain(each)
      expect([...api.documents.documents.values()]).toEqual(before)
      return
    }
    expect(answer.status).toBe(operation.success)
    if (name === 'Prefer') expect(answer.headers).toHaveProperty('preference-applied')
    else if (verdict === 'used') {
      expect((await send(requestWith(place, name, bad, operation))).status, String(bad)).toBeOneOf([400, 403])
    } else if (operation.method === 'get') expect(answer).toMatchObject({ body: (await send({})).body })
  })

  it.each([null, undefined, '', ' ', '{}', 'null'])(
    'takes the body %j, as clients send it with nothing to say',
    async (body) => {
      const { send } = await prepare(operation)
      // A promotion of many needs to know which.
      const status = operation.body ? 400 : operation.success
      expect((await send({ body: body ?? '' })).status).toBe(status)
    },
  )

  it('takes what libraries, browsers and proxies add to any request', async () => {
    const { send } = await prepare(operation)
    const values = {
      accept: 'application/json',
      'anthropic-workspace-id': 'ws_1',
      Prefer: 'return=minimal, wait=x, wait=0',
    }
    const names = `${HEADERS_OF_LIBRARIES} ${HEADERS_OF_HTTP}`.split(' ')
    const headers = { ...Object.fromEntries(names.map((name) => [name, 'x'])), ...values }
    expect((await send({ headers })).status).toBe(operation.success)
  })
})

it('docs/openapi.yaml names the headers that libraries add', () => {
  const text = JSON.stringify([OPENAPI.info.description, OPENAPI.components.parameters])
  for (const name of HEADERS_OF_LIBRARIES.split(' ')) expect(text).toContain(name)
})
