import { describe, expect, it } from 'vitest'
import { API_FUNCTIONS } from '../../infra/deploy/functions.ts'
import { ONLY_IF_LISTED, PERMISSIONS, PLATFORM_PERMISSIONS } from '../../lib/auth/caller.ts'
import { ServiceError } from '../../lib/errors.ts'
import { EXPOSED_HEADERS } from '../../lib/http/headers.ts'
import { entryOf } from '../../lib/http/operations.ts'
import { OPERATION_NAMES, OPERATIONS } from '../support/api/operations.ts'
import { COMMON_HEADERS, refusalOf } from '../support/api/promotion-answers.ts'
import { prepareFor } from '../support/api/tenant.ts'
import { createTestApi } from '../support/api/test-api.ts'
import { DOCUMENTS_TABLE, KEYS_TABLE, WORKSPACES_TABLE } from '../support/dynamodb/memory-tables.ts'

it('there is a handler for every function behind the gateway', () => {
  const names = API_FUNCTIONS.map(({ name }) => name)
  expect(Object.keys(createTestApi().handlers).toSorted(), 'test/support/api/operations.ts').toEqual(names.toSorted())
})

describe.each(OPERATION_NAMES)('%s', (name) => {
  const prepare = (change = {}) => prepareFor(OPERATIONS[name], change)
  const { success, path, facts } = OPERATIONS[name]
  const { for: whom, permission } = entryOf(name)
  const permissions = PERMISSIONS.filter((each) => each === whom)
  const others = PERMISSIONS.filter((each) => each !== whom)
  const isForFiles = permissions.length > 0
  const isOnlyIfListed = ONLY_IF_LISTED.includes(whom)

  it.each([
    ['a management key', { kind: 'management', permissions: [] }, whom !== 'platform' && !isOnlyIfListed],
    ['one with what has to be listed', { kind: 'management', permissions: ONLY_IF_LISTED }, whom !== 'platform'],
    ['a standard key with its one permission, if it needs one', { permissions }, whom !== 'platform'],
    ['a standard key with every other permission', { permissions: others }, whom === 'any'],
    ['a platform key', { kind: 'platform', permissions: [] }, !isForFiles && !permission],
    ['a platform key with every permission', { kind: 'platform', permissions: PLATFORM_PERMISSIONS }, !isForFiles],
    // As somebody could write it by hand.
    ['a platform key with those of others', { kind: 'platform', permissions: PERMISSIONS }, !isForFiles && !permission],
  ] as const)('for %s: done, or 403, and nothing is changed', async (_, key, isAllowed) => {
    const api = await prepare()
    const token = api.apiKeys.add(key as Parameters<typeof api.apiKeys.add>[0])
    const parameters = isAllowed ? api.parameters : { ...api.parameters, file_id: 'malformed', name: '.' }
    const before = [KEYS_TABLE, WORKSPACES_TABLE, DOCUMENTS_TABLE].map(api.stored.attributes)
    const response = await api.call(name, { parameters, token })
    if (isAllowed) return expect(response.status).toBe(success)
    const isOfPlatform = 'kind' in key && key.kind === 'platform'
    const reason = isForFiles || isOfPlatform ? 'permission_denied' : 'platform_key_required'
    expect(refusalOf(response)).toEqual([403, reason])
    expect([KEYS_TABLE, WORKSPACES_TABLE, DOCUMENTS_TABLE].map(api.stored.attributes)).toEqual(before)
  })

  it('is 401 without a key', async () => {
    const api = await prepare()
    const response = await api.call(name, { parameters: api.parameters, headers: { Authorization: '' } })
    expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    expect(api.stored.documents().length).toBe(1)
  })

  it('is 429 above the rate limit, whatever else is wrong, and changes nothing', async () => {
    const api = await prepare()
    const kind = whom === 'platform' ? 'platform' : 'management'
    const own = whom === 'platform' && { requestsPerMinute: 30 }
    const token = api.apiKeys.add({ kind, ...own } as Parameters<typeof api.apiKeys.add>[0])
    const request = { parameters: { document_id: 'x', container_id: 'x', file_id: 'x' } }
    for (let i = 0; i < 5; i++) await api.call(name, { ...request, token })
    const before = api.stored.attributes(KEYS_TABLE)
    for (const parameters of [request.parameters, api.parameters]) {
      const response = await api.call(name, { parameters, token })
      expect(response).toMatchObject({ status: 429, headers: { 'retry-after': own ? '2' : '1' } })
    }
    expect([api.stored.documents().length, api.stored.attributes(KEYS_TABLE)]).toEqual([1, before])
  })

  const NAMED = [
    ['the query', { query: { workspace_id: 'ws_2' } }],
    ['a header', { headers: { 'anthropic-workspace-id': 'ws_2' } }],
  ] as const
  // Platform keys name a workspace in the path.
  const named = whom === 'platform' ? NAMED.slice(1) : NAMED
  it.each(named)('is 403 when %s names another workspace, and changes nothing', async (_, request) => {
    const api = await prepare()
    const response = await api.call(name, { parameters: api.parameters, ...request })
    expect(refusalOf(response)).toEqual([403, 'workspace_mismatch'])
    expect(response.body).toMatchObject({ error: { message: 'The request names another workspace' } })
    expect(api.stored.documents().length).toBe(1)
  })

  it('has the headers of every answer', async () => {
    const api = await prepare()
    const { headers } = await api.call(name, { parameters: api.parameters })
    expect(headers).toMatchObject({
      ...COMMON_HEADERS,
      vary: expect.stringContaining('File-Shape'),
      ratelimit: expect.any(String),
      'ratelimit-policy': expect.any(String),
    })
  })

  it('may be read by pages of the allowed origins, and of no other', async () => {
    const api = await prepare({ corsAllowedOrigins: ['https://app.example'] })
    const allowedFor = async (headers: Record<string, string>) => {
      const answer = await api.call(name, { parameters: api.parameters, headers })
      expect(answer.headers.vary).toMatch(/, Origin\b/)
      const { 'access-control-allow-origin': allowed, 'access-control-expose-headers': exposed } = answer.headers
      return [allowed, exposed]
    }
    expect(await allowedFor({ origin: 'https://app.example' })).toEqual(['https://app.example', EXPOSED_HEADERS])
    const others = ['https://evil.example', 'https://app.example.evil.example'].map((origin) => ({ origin }))
    for (const headers of [...others, {}]) expect(await allowedFor(headers)).toEqual([undefined, undefined])
  })

  it('goes on without the rate limiter, and says so in log and metrics', async () => {
    const api = await prepare()
    const error = new Error('no table')
    const { rateLimiter } = api.dependencies
    Object.assign(rateLimiter, { take: () => Promise.reject(error), withLimit: () => rateLimiter })
    expect((await api.call(name, { parameters: api.parameters })).status).toBe(success)
    expect(api.published).toContainEqual({ RateLimiterUnavailable: 1 })
    const line = { level: 'warn', message: 'rate limiter unavailable, request let through', error }
    expect(api.logged).toContainEqual(expect.objectContaining(line))
  })

  it('is 503 when the keys cannot be read', async () => {
    const { parameters, call, apiKeys } = await prepare()
    apiKeys.find = () => Promise.reject(new ServiceError('service_unavailable'))
    expect(await call(name, { parameters })).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  it('tells its name, time and outcome in log and metrics, and nothing secret', async () => {
    const api = await prepare()
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
    const told = { ...(parameter && { [parameter]: api.parameters[parameter as 'name'] }), ...facts }
    await api.call(name, { parameters: api.parameters })
    // The clock of these tests stands still.
    const outcome = { message: 'request answered', operation: name, status: success, duration_ms: 0 }
    expect(api.logged.at(-1)).toMatchObject({ ...outcome, ...told })
    expect(api.published).toContainEqual({ OperationTime: 0, operation: name })
    expect(api.published).not.toContainEqual({})
    expect(JSON.stringify(api.logged)).not.toContain(api.managementToken)
    expect(JSON.stringify(api.logged)).not.toContain('https://')
  })
})
