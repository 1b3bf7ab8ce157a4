import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { keyIdOf } from '../../lib/auth/api-token.ts'
import { formatCursor } from '../../lib/documents/list-cursor.ts'
import { type DocumentId, formatFileId } from '../../lib/ids.ts'
import { addLink } from '../support/api/links.ts'
import { type DocumentedOperation, isDocumentedBody, OPENAPI, PROMOTE } from '../support/api/openapi.ts'
import { OPERATIONS, PROMOTION, type ServedOperation } from '../support/api/operations.ts'
import type { RouteRequest } from '../support/api/rest-event.ts'
import { addTenant, prepareFor } from '../support/api/tenant.ts'
import { CONTAINER, CSV, PATH, UNLIMITED, withId } from '../support/api/test-api.ts'
import { NOW_MS, WORKSPACE } from '../support/ports.ts'

type TestedOperation = ServedOperation & { success: number; body?: object; needsErasure?: true }
type Place = 'query' | 'header' | 'body'

const ALL: Record<string, TestedOperation> = {
  promote_container_file: { ...PROMOTION, success: 200 },
  ...OPERATIONS,
}
const NEEDS_BODY = /^(promote_container_files|save_key|create_container_file|restore_container_files)$/
/** Methods of the vendors' libraries know these names, and no operation of ours does. */
const OF_VENDORS: Record<Place, string> = {
  query: 'before before_id scope_id provider name container_id __proto__ Limit',
  header: '',
  body: 'expires_after file file_ids purpose name workspace_id __proto__',
}
/** Libraries, browsers and proxies add these to any request. They change nothing but the shape of an answer. */
const HEADERS_OF_LIBRARIES =
  'anthropic-version anthropic-beta openai-organization openai-project openai-beta HTTP-Referer X-OpenRouter-Title ' +
  'X-OpenRouter-Categories x-stainless-lang'
const HEADERS_OF_HTTP =
  'api-key x-api-key cookie x-stainless-retry-count range if-none-match if-modified-since content-type origin ' +
  'x-forwarded-for forwarded via traceparent x-amzn-trace-id cache-control referer from expect'

/** The table is docs/openapi.yaml itself. Names that it lacks are refused. */
function verdictsOf({ method, path }: DocumentedOperation, place: Place): Map<string, 'used' | 'accepted'> {
  const { parameters, requestBody } = OPENAPI.paths[path][method]
  if (place === 'body') {
    const { $ref, properties = {} } = requestBody?.content['application/json'].schema ?? {}
    const members = $ref ? OPENAPI.components.schemas[$ref.split('/').at(-1)].properties : properties
    return new Map(Object.keys(members).map((name) => [name, 'used']))
  }
  const entries = parameters.flatMap((own: { $ref?: string; name: string; in: string }) => {
    const shared = own.$ref?.split('/').at(-1) ?? ''
    const { name, in: where } = OPENAPI.components.parameters[shared] ?? own
    return where === place ? [[name, shared.startsWith('Accepted') ? 'accepted' : 'used']] : []
  })
  return new Map(entries)
}

/** A request that succeeds, to which others are added; and for each name that is used, what is right and what is not. */
async function prepare(name: string, operation: TestedOperation) {
  const api = await prepareFor(operation, { rateLimiter: UNLIMITED })
  const { parameters } = api
  const documentId = parameters.document_id as DocumentId
  const isForPlatform = /^.workspaces/.test(operation.path)
  const token = isForPlatform ? api.platformToken : api.managementToken
  const send = async (request: RouteRequest) => {
    if (isForPlatform && operation.method === 'delete') await addTenant(api)
    if (name === 'delete_link') parameters.link_id = (await addLink(api)).linkId
    return api.send(operation, { parameters, body: withId(operation.body, documentId), token, ...request })
  }
  /** The other members of a right body. */
  const baseFor = (name: string) => {
    const { paths, ...others } = { ...(withId(operation.body, documentId) as { paths?: unknown }) }
    return paths !== undefined && name !== 'paths' ? { prefix: '' } : others
  }
  /** @param value as JSON.parse makes it: in a literal, __proto__ would be the prototype */
  const sendWith = (place: Place, name: string, value: unknown) => {
    const named = JSON.parse(JSON.stringify({ name: value }).replace('name', name))
    if (place !== 'body') return send(place === 'query' ? { query: named } : { headers: named })
    return send({ body: { ...baseFor(name), ...named } })
  }
  const cursors = {
    '/workspaces': 'ws_1',
    '/workspaces/{workspace_id}/keys': keyIdOf(parameters.workspace_id),
  }
  const ofDocuments = formatCursor(WORKSPACE, { createdAt: new Date(NOW_MS), documentId })
  const cursor = cursors[operation.path as keyof typeof cursors] ?? ofDocuments
  const afters = { list_documents: documentId, restore_container_files: '0' }
  const after = afters[name as keyof typeof afters] ?? formatFileId('a')
  const many = Array(101).fill(documentId)
  const values: Record<string, [good: unknown, bad: unknown]> = {
    ...{ limit: ['1', '0'], order: ['asc', 'up'], cursor: [cursor, '.'], page: [cursor, 'x'], purpose: ['batch', 'x'] },
    ...{ after: [after, 'x'], after_id: [documentId, 'x'], 'ids[]': [documentId, many], ids: [documentId, many] },
    ...{ container_id: [CONTAINER, '.'], scope_id: [CONTAINER, '.'], disposition: ['inline', 'x'] },
    ...{ workspace_id: ['ws_1', 'ws_2'], 'File-Shape': ['native', 'x'], 'Idempotency-Key': ['k', ''] },
    ...{ 'If-Match': ['*', '"'], 'File-Bytes': [String(CSV.length), 'x'], 'File-Expires-In': ['3600', '1'] },
    ...{ 'File-Sha256': [createHash('sha256').update(CSV).digest('hex'), 'x'], expires_in_seconds: [3600, 0] },
    ...{ quota_bytes: [1000, -1], expire_after_seconds: [3600, 1], expire_at_most_seconds: [3600, 1] },
    ...{
      requests_per_minute: [60, 0],
      permissions: [['files:read'], []],
      kind: ['standard', 'x'],
      disabled: [false, 1],
      label: ['ACME', ''],
    },
    ...{
      after_seconds: [0, -1],
      user_id: ['u', 'u u'],
      expires_at: ['2099-01-01T00:00:00Z', 'x'],
      grace_seconds: [0, -1],
    },
    ...{ Prefer: ['wait=1', ''], prefix: ['', '/'], paths: [[PATH], []], path: ['b.csv', '/'] },
    ...{
      file_id: [documentId, 1],
      files: [[{ file_id: documentId, path: 'b.csv' }], []],
      on_existing: ['replace', 'x'],
    },
  }
  const valuesOf = (name: string) => (Object.hasOwn(values, name) && values[name]) || ['x', 'x']
  return { documents: api.stored.documents, parameters, send, sendWith, baseFor, valuesOf }
}

describe.each(Object.entries(ALL))('%s', (operationName, operation) => {
  it.each(Object.keys(OF_VENDORS) as Place[])('uses, accepts or refuses each %s that anybody knows', async (place) => {
    const { documents, send, sendWith, valuesOf } = await prepare(operationName, operation)
    const verdicts = verdictsOf(operation, place)
    const used = [...verdicts.keys()].filter((name) => verdicts.get(name) === 'used')
    const known = Object.values(ALL).flatMap((each) => [...verdictsOf(each, place).keys()])
    for (const name of new Set([...known, ...OF_VENDORS[place].split(' ').filter(Boolean)])) {
      const [good, bad] = valuesOf(name)
      const before = documents()
      const { status, headers, body } = await sendWith(place, name, good)
      const verdict = verdicts.get(name)
      if (verdict === undefined) {
        const reason = place === 'body' ? 'invalid_body' : 'unsupported_parameter'
        expect([status, body], name).toMatchObject([400, { error: { metadata: { reason } } }])
        const named = { header: [name, PROMOTE.path], query: [name], body: [name] }[place]
        for (const each of named) expect(JSON.stringify(body)).toContain(each)
        const [, names] = /(?:It knows|the members) (.*?)\."/.exec(JSON.stringify(body)) ?? []
        if (place !== 'header') expect((names?.split(', ') ?? []).toSorted(), name).toEqual(used.toSorted())
        expect(documents(), name).toEqual(before)
        continue
      }
      expect(status, name).toBe(operation.success)
      if (name === 'Prefer') expect(headers).toHaveProperty('preference-applied')
      else if (verdict === 'used') expect((await sendWith(place, name, bad)).status, name).toBeOneOf([400, 403])
      else if (operation.method === 'get') expect(body, name).toEqual((await send({})).body)
    }
  })

  it('takes an empty body, as clients send it with nothing to say, unless it needs to know more', async () => {
    const { send } = await prepare(operationName, operation)
    for (const body of ['', ' ', '{}', 'null', '{"x":null}']) {
      const isRefused = NEEDS_BODY.test(operationName) || body.includes('x')
      expect((await send({ body })).status, body).toBe(isRefused ? 400 : operation.success)
    }
  })

  it('takes null and what is empty for a member where the document does', async () => {
    const { send, baseFor } = await prepare(operationName, operation)
    const names = [...verdictsOf(operation, 'body').keys()]
    for (const member of names.flatMap((name) => [null, '', []].map((value) => ({ [name]: value })))) {
      const body = { ...baseFor(Object.keys(member).join()), ...member }
      const { status } = await send({ body })
      expect(status === operation.success, JSON.stringify(body)).toBe(isDocumentedBody(body, operation))
    }
  })

  it('takes what libraries, browsers and proxies add to any request', async () => {
    const { send, parameters } = await prepare(operationName, operation)
    const names = `${HEADERS_OF_LIBRARIES} ${HEADERS_OF_HTTP}`.split(' ')
    const workspace =
      { '/workspaces': '' }[operation.path] ??
      (operation.path.startsWith('/workspaces') ? parameters.workspace_id : WORKSPACE)
    const own = { 'anthropic-workspace-id': workspace, Prefer: 'return=minimal, wait=x, wait=0' }
    const { status } = await send({ headers: { ...Object.fromEntries(names.map((name) => [name, 'x'])), ...own } })
    expect(status).toBe(operation.success)
  })
})

it('docs/openapi.yaml names the headers that libraries add', () => {
  const text = JSON.stringify([OPENAPI.info.description, OPENAPI.components.parameters])
  for (const name of HEADERS_OF_LIBRARIES.split(' ')) expect(text).toContain(name)
})
