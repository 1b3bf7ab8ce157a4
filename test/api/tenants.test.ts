import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ONLY_IF_LISTED, PERMISSIONS } from '../../lib/auth/caller.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { OperationName } from '../support/api/operations.ts'
import { expectUntouched, RATE_HEADERS, refusalOf } from '../support/api/promotion-answers.ts'
import { CSV, PATH, useTestApi } from '../support/api/test-api.ts'
import { afterNext, beforeNext } from '../support/beside.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { KEYS_TABLE, WORKSPACES_TABLE } from '../support/dynamodb/memory-tables.ts'

const api = useTestApi()

const { signal } = new AbortController()
const ACME = { workspace_id: 'ws_acme', name: 'ci' }
const WS_1 = { workspace_id: 'ws_1' }
const call = (name: OperationName, body?: object | string, parameters: object = ACME, query?: Record<string, string>) =>
  api.call(name, { parameters: { ...parameters }, ...(body !== undefined && { body }), ...(query && { query }) })
const bodyOf = async (answer: ReturnType<typeof call>) => (await answer).body as Record<string, unknown>
const tokenOf = async (answer: ReturnType<typeof call>) => `${(await bodyOf(answer)).token}`
/** Whether a token works, and with what it is told. */
const who = async (token: string) => {
  const { status, body } = await api.call('retrieve_key', { token })
  return status === 200 ? (body as Record<string, unknown>) : status
}
const doesWork = async (token: unknown) => (await who(`${token}`)) !== 401
const MANAGEMENT = { kind: 'management' }

describe('PUT /workspaces/{workspace_id}', () => {
  it('makes a workspace, and a repetition changes what is named, takes away what is null, and leaves the rest', async () => {
    const made = await bodyOf(call('save_workspace', { quota_bytes: 500, expire_after_seconds: 3600 }))
    const created_at = new Date(api.clock.nowMs).toISOString()
    const settings = { expire_after_seconds: 3600, expire_at_most_seconds: null, requests_per_minute: null }
    const state = { workspace_id: 'ws_acme', disabled: false, label: null, erasure: null, created_at, is_new: true }
    const usage = { used_bytes: 0, documents: 0, quota_bytes: 500, remaining_bytes: 500 }
    expect(made).toEqual({ ...state, ...settings, ...usage })
    api.clock.nowMs += 5000
    const change = { expire_after_seconds: null, requests_per_minute: 30, label: 'ACME Ltd, 0815 – é🙂' }
    const expected = { ...made, ...change, is_new: false }
    for (let times = 0; times < 2; times++) expect(await bodyOf(call('save_workspace', change))).toEqual(expected)
    const { is_new: _, ...shown } = expected
    expect(await bodyOf(call('retrieve_workspace'))).toEqual(shown)
  })

  it('takes a quota below what is used, and then nothing fits', async () => {
    await api.promote()
    const body = await bodyOf(call('save_workspace', { quota_bytes: 1 }, WS_1))
    expect(body).toMatchObject({ used_bytes: CSV.length, remaining_bytes: 1 - CSV.length, documents: 1 })
    expect(refusalOf(await api.promote())).toEqual([403, 'storage_quota_exceeded'])
  })

  it('gives its limit to the keys that are there and to those that come, but for their own; null takes it back', async () => {
    await call('save_workspace', {})
    const own = await tokenOf(call('save_key', { ...MANAGEMENT, requests_per_minute: 12 }, { ...ACME, name: 'own' }))
    const before = await tokenOf(call('save_key', MANAGEMENT))
    await call('save_workspace', { requests_per_minute: 30 })
    const after = await tokenOf(call('save_key', MANAGEMENT, { ...ACME, name: 'later' }))
    const told = () => Promise.all([own, before, after].map(who))
    const limits = (...all: number[]) => all.map((requests_per_minute) => ({ requests_per_minute }))
    expect(await told()).toMatchObject(limits(12, 30, 30))
    await call('save_workspace', { requests_per_minute: null })
    expect(await told()).toMatchObject(limits(12, 60, 60))
  })

  it('counts the requests of its keys together, and another limit holds at once, for those it refused, too', async () => {
    await call('save_workspace', { requests_per_minute: 12 })
    const one = await tokenOf(call('save_key', MANAGEMENT))
    const other = await tokenOf(call('save_key', MANAGEMENT, { ...ACME, name: 'b' }))
    const statuses = () =>
      Promise.all([one, other].map(async (token) => (await api.call('list_documents', { token })).status))
    expect(await statuses()).toEqual([200, 200])
    expect(await statuses()).toEqual([429, 429])
    await call('save_workspace', { requests_per_minute: 60 })
    api.clock.nowMs += 1000
    expect(await statuses()).toEqual([200, 200])
  })

  it('refuses the keys of a disabled workspace, also those with a limit of their own, and keeps everything', async () => {
    await call('save_workspace', {}, WS_1)
    const key = { ...MANAGEMENT, requests_per_minute: 12 }
    const own = await tokenOf(call('save_key', key, { ...WS_1, name: 'own' }))
    await api.promote()
    expect(await bodyOf(call('save_workspace', { disabled: true }, WS_1))).toMatchObject({ disabled: true })
    const before = api.stored.attributes(WORKSPACES_TABLE)
    for (const token of [api.token, own]) {
      for (let times = 0; times < 2; times++)
        expect(refusalOf(await api.promote({ token }))).toEqual([403, 'workspace_disabled'])
    }
    expect(api.stored.attributes(WORKSPACES_TABLE)).toEqual(before)
    const enabled = await bodyOf(call('save_workspace', { disabled: false }, WS_1))
    expect(enabled).toMatchObject({ disabled: false, documents: 1 })
    api.clock.nowMs += 1000
    expect((await api.promote({ token: own })).status).toBe(200)
  })

  it('can be repeated after its second write has failed, and then the new limit holds', async () => {
    await call('save_workspace', {})
    const token = await tokenOf(call('save_key', MANAGEMENT))
    expect(await who(token)).toMatchObject({ requests_per_minute: 60 })
    const { rateLimiter } = api.dependencies.administration
    vi.spyOn(rateLimiter, 'setLimits').mockRejectedValueOnce(new ServiceError('service_unavailable'))
    expect((await call('save_workspace', { requests_per_minute: 6 })).status).toBe(503)
    expect((await call('save_workspace', { requests_per_minute: 6 })).status).toBe(200)
    api.clock.nowMs += 10_000
    expect([await who(token), await who(token)]).toEqual([expect.objectContaining(MANAGEMENT), 429])
  })

  it('takes each of two times that do not fit together beside the other, but not both', async () => {
    await call('save_workspace', {})
    beforeNext(api.dependencies.administration.workspaces, 'change', async () =>
      expect((await call('save_workspace', { expire_at_most_seconds: 3600 })).status).toBe(200),
    )
    expect(refusalOf(await call('save_workspace', { expire_after_seconds: 7200 }))).toEqual([400, 'invalid_body'])
    const kept = { expire_after_seconds: null, expire_at_most_seconds: 3600 }
    expect(await bodyOf(call('save_workspace', { quota_bytes: 5 }))).toMatchObject({ ...kept, quota_bytes: 5 })
  })

  it.each([
    ['that fits, beside the other', { expire_after_seconds: 3600 }, 200, 3600],
    ['that does not, not at all', { expire_after_seconds: 7200 }, 400, null],
  ])('takes a time %s, when another call makes the workspace at that moment', async (_, body, status, kept) => {
    beforeNext(api.dependencies.administration.workspaces, 'create', async () =>
      expect((await call('save_workspace', { expire_at_most_seconds: 3600 })).status).toBe(200),
    )
    expect((await call('save_workspace', body)).status).toBe(status)
    const times = { expire_after_seconds: kept, expire_at_most_seconds: 3600 }
    expect(await bodyOf(call('retrieve_workspace'))).toMatchObject(times)
  })

  it.each([
    ['no longer possible together', { expire_after_seconds: 7200, expire_at_most_seconds: 3600 }],
    ['beyond 2^53', { quota_bytes: 2 ** 53 }],
    ['a fraction', { quota_bytes: 1.5 }],
    ['too high a limit', { requests_per_minute: 30_001 }],
    ['too long a label', { label: 'x'.repeat(129) }],
    ['a label with a line break', { label: 'a\u2028b' }],
    ['less than an hour', { expire_after_seconds: 60 }],
    ['more than ten years', { expire_at_most_seconds: 3650 * 86_400 + 1 }],
    ['a list', []],
    ['too much', { quota_bytes: `${'9'.repeat(1_000_001)}` }],
  ])('refuses a setting that is %s, and makes nothing', async (_, body) => {
    expect(refusalOf(await call('save_workspace', body))).toEqual([400, 'invalid_body'])
    expect(refusalOf(await call('retrieve_workspace'))).toEqual([404, 'workspace_not_found'])
  })

  it.each(['', 'a/b', 'a.b', 'ä', '🙂', 'x'.repeat(129)])('refuses the id %j', async (workspace_id) => {
    for (const name of ['save_workspace', 'retrieve_workspace', 'delete_workspace', 'list_keys'] as const) {
      const answer = await call(name, {}, { workspace_id })
      expect(refusalOf(answer), name).toEqual([400, 'invalid_parameter'])
    }
  })
})

describe('GET /workspaces and GET …/keys', () => {
  type Page = { data: Record<string, unknown>[]; unreadable: unknown[]; cursor: string | null; has_more: boolean }
  async function pagesOf(name: 'list_workspaces' | 'list_keys', limit: string, workspace_id: string) {
    const pages: Page[] = []
    for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)?.cursor ?? null)
      pages.push((await call(name, undefined, { workspace_id }, { limit, cursor })).body as Page)
    return pages
  }
  const valuesOf = (pages: Page[], member: string) =>
    pages.flatMap(({ data }) => data.map((each) => each[member])).toSorted()

  it('list all in pages, each of which is full but for the last', async () => {
    for (let n = 0; n < 5; n++) await call('save_workspace', {}, { workspace_id: `ws_${n}` })
    for (let n = 0; n < 5; n++) await call('save_key', MANAGEMENT, { workspace_id: 'ws_3', name: `key-${n}` })
    // A workspace's list has no key of another.
    await call('save_key', MANAGEMENT, { workspace_id: 'ws_4', name: 'key-0' })
    for (const [name, member, expected] of [
      ['list_workspaces', 'workspace_id', ['ws_0', 'ws_1', 'ws_2', 'ws_3', 'ws_4']],
      ['list_keys', 'name', ['key-0', 'key-1', 'key-2', 'key-3', 'key-4']],
    ] as const) {
      const pages = await pagesOf(name, '2', 'ws_3')
      expect(pages.map(({ data, has_more }) => `${data.length} ${has_more}`)).toEqual(['2 true', '2 true', '1 false'])
      expect(valuesOf(pages, member)).toEqual(expected)
    }
  })

  it('list all but those that cannot be read, which they name and log, each on one page', async () => {
    for (const n of ['0', '1', '2']) await call('save_workspace', {}, { workspace_id: `ws_${n}` })
    const ids: unknown[] = []
    for (const name of ['a', 'b', 'c'])
      ids.push((await bodyOf(call('save_key', MANAGEMENT, { workspace_id: 'ws_0', name }))).key_id)
    const damage = (item: Record<string, unknown>) =>
      void Object.assign(item, { per_minute: { S: '' }, expires_at: { S: '' } })
    await api.stored.change(WORKSPACES_TABLE, damage, ({ workspace_id }) => workspace_id?.S === 'ws_1')
    await api.stored.change(KEYS_TABLE, damage, ({ name }) => name?.S === 'b')
    for (const [name, member, damaged, others] of [
      ['list_workspaces', 'workspace_id', 'ws_1', ['ws_0', 'ws_2']],
      ['list_keys', 'key_id', ids[1], [ids[0], ids[2]]],
    ] as const) {
      const pages = await pagesOf(name, '1', 'ws_0')
      expect(valuesOf(pages, member)).toEqual(others.toSorted())
      expect(pages.flatMap(({ unreadable }) => unreadable)).toEqual([damaged])
      expect(api.logged).toContainEqual(expect.objectContaining({ level: 'error', item_id: damaged }))
    }
    expect((await call('save_workspace', { requests_per_minute: 30 }, { workspace_id: 'ws_0' })).status).toBe(200)
  })

  it('refuse a cursor that is not theirs, a limit of 0, and the keys of no workspace', async () => {
    await call('save_workspace', {})
    const { key_id } = await bodyOf(call('save_key', MANAGEMENT))
    for (const cursor of ['a.b', '.']) {
      expect(refusalOf(await call('list_workspaces', undefined, {}, { cursor }))).toEqual([400, 'invalid_cursor'])
    }
    const ofOther = call('list_keys', undefined, WS_1, { cursor: `${key_id}` })
    expect(refusalOf(await ofOther)).toEqual([400, 'invalid_cursor'])
    expect(refusalOf(await call('list_keys', undefined, ACME, { limit: '0' }))).toEqual([400, 'invalid_limit'])
    const ofNone = call('list_keys', undefined, { workspace_id: 'ws_none' })
    expect(refusalOf(await ofNone)).toEqual([404, 'workspace_not_found'])
  })
})

describe('PUT …/keys/{name}', () => {
  const WANTED = { permissions: ['files:read'], user_id: 'u_7', expires_in_seconds: 60, requests_per_minute: 30 }
  beforeEach(async () => void (await call('save_workspace', {})))

  it('makes a key, and tells its token once', async () => {
    const { token, ...made } = await bodyOf(call('save_key', WANTED))
    const { expires_in_seconds: _, ...members } = WANTED
    const times = [api.clock.nowMs + 60_000, api.clock.nowMs].map((ms) => new Date(ms).toISOString())
    const ends = { expires_at: times[0], created_at: times[1], former_tokens_end_at: null }
    const shown = { ...ACME, ...members, ...ends, kind: 'standard', disabled: false, key_id: made.key_id }
    expect(made).toEqual({ ...shown, is_new: true })
    const grant = { workspace_id: 'ws_acme', key_id: made.key_id, permissions: ['files:read'] }
    expect(await who(`${token}`)).toMatchObject(grant)
    expect(await bodyOf(call('retrieve_key_by_name'))).toEqual(shown)
    const told = [await bodyOf(call('list_keys')), api.logged, api.stored.attributes(KEYS_TABLE)]
    expect(JSON.stringify(told)).not.toContain(token)
  })

  it('made again, it is what the repetition says, with one token that works', async () => {
    const first = await tokenOf(call('save_key', WANTED))
    const again = await bodyOf(call('save_key', { ...MANAGEMENT, user_id: null, expires_at: null }))
    const permissions = PERMISSIONS.filter((each) => !ONLY_IF_LISTED.includes(each))
    expect(again).toMatchObject({ ...MANAGEMENT, permissions, user_id: null, expires_at: null })
    expect(again).toMatchObject({ disabled: false, requests_per_minute: null, is_new: false })
    // What a management key has to be given can be taken from it.
    for (const [permissions, has] of [[ONLY_IF_LISTED, PERMISSIONS] as const, [null, again.permissions] as const])
      expect(await bodyOf(call('change_key', { permissions }))).toMatchObject({ permissions: has })
    expect([await who(first), await who(`${again.token}`)]).toEqual([401, expect.objectContaining(MANAGEMENT)])
    expect((await bodyOf(call('list_keys'))).data).toHaveLength(1)
  })

  it('leaves former tokens for a grace, however often it is repeated, and never longer than they had', async () => {
    const grace = { ...MANAGEMENT, grace_seconds: 100 }
    const [zero, start] = [await tokenOf(call('save_key', { ...MANAGEMENT, expires_in_seconds: 50 })), api.clock.nowMs]
    const one = await bodyOf(call('save_key', grace))
    expect(one.former_tokens_end_at).toBe(new Date(start + 50_000).toISOString())
    api.clock.nowMs += 30_000
    const two = await bodyOf(call('save_key', grace))
    const works = () => Promise.all([zero, one.token, two.token].map(doesWork))
    expect(await works()).toEqual([true, true, true])
    api.clock.nowMs = start + 50_000
    expect(await works()).toEqual([false, true, true])
    expect(await who(`${one.token}`)).toMatchObject({ expires_at: new Date(start + 130_000).toISOString() })
    const three = await bodyOf(call('save_key', MANAGEMENT))
    expect([await works(), three.former_tokens_end_at]).toEqual([[false, false, false], null])
  })

  it('keeps the last 20 former tokens, so that its record stays small', async () => {
    const tokens: string[] = []
    for (let n = 0; n < 23; n++) {
      tokens.push(await tokenOf(call('save_key', { ...MANAGEMENT, grace_seconds: 3600 })))
      api.clock.nowMs += 1000
    }
    const works = await Promise.all(tokens.map(doesWork))
    expect(works).toEqual(tokens.map((_, n) => n >= 2))
    const bytes = Math.max(...api.stored.attributes(KEYS_TABLE).map(itemSizeBytes))
    expect(bytes).toBeGreaterThan(20 * 64)
    expect(bytes).toBeLessThanOrEqual(4096)
  })

  it.each([
    ['all 20 former ones would live longer than the new grace', {}, 60],
    ['all 20 former ones would outlive it', { expires_in_seconds: 1800 }, 3600],
  ])('leaves the token that was in use, although %s', async (_, change, grace_seconds) => {
    let inUse = ''
    for (let n = 0; n <= 20; n++) inUse = await tokenOf(call('save_key', { ...MANAGEMENT, grace_seconds: 3600 }))
    await call('change_key', change)
    await call('save_key', { ...MANAGEMENT, grace_seconds })
    expect(await who(inUse)).toMatchObject(MANAGEMENT)
  })

  it('leaves a disabled key disabled, and lets no token that it had work again', async () => {
    const stolen = await tokenOf(call('save_key', MANAGEMENT))
    await call('change_key', { disabled: true })
    const again = await bodyOf(call('save_key', { ...MANAGEMENT, grace_seconds: 3600 }))
    expect(again).toMatchObject({ disabled: true, former_tokens_end_at: null })
    expect([await who(stolen), await who(`${again.token}`)]).toEqual([401, 401])
    await call('change_key', { disabled: false })
    expect([await who(stolen), await who(`${again.token}`)]).toEqual([401, expect.objectContaining(MANAGEMENT)])
  })

  const ENDS = [{ disabled: true }, { expires_in_seconds: 1 }]
  it.each(ENDS)('whatever grace it names: a change to %j beside it ends the token that was stolen', async (change) => {
    const stolen = await tokenOf(call('save_key', MANAGEMENT))
    afterNext(api.dependencies.administration.apiKeys, 'get', () => call('change_key', change))
    await call('save_key', { ...MANAGEMENT, grace_seconds: 86_400 })
    api.clock.nowMs += 2000
    expect(await who(stolen)).toBe(401)
  })

  it('beside a deletion of its workspace: leaves no key, whichever of the two looks last', async () => {
    const { apiKeys, workspaces } = api.dependencies.administration
    beforeNext(apiKeys, 'add', async () => expect((await call('delete_workspace')).status).toBe(200))
    expect(refusalOf(await call('save_key', MANAGEMENT))).toEqual([404, 'workspace_not_found'])
    const acmes = () => api.stored.attributes(KEYS_TABLE).filter(({ workspace_id }) => workspace_id?.S === 'ws_acme')
    expect(acmes()).toEqual([])
    await call('save_workspace', {})
    beforeNext(workspaces, 'remove', async () => {
      expect((await call('save_key', MANAGEMENT)).status).toBe(200)
      expect(acmes()).toHaveLength(1)
    })
    expect((await call('delete_workspace')).status).toBe(200)
    expect(acmes()).toEqual([])
  })

  it('beside itself: one token works at the end', async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => call('save_key', MANAGEMENT)))
    const tokens = answers.map(({ body }) => (body as Record<string, unknown>).token)
    const working = (await Promise.all(tokens.map(doesWork))).filter(Boolean)
    expect([working.length, answers.every(({ status }) => [200, 503].includes(status))]).toEqual([1, true])
  })

  it.each([
    ['without permissions', {}],
    ['with an unknown one', { permissions: ['files:write'] }],
    ['with one that is no list', { permissions: 'files:read' }],
    ['of a management key', { ...MANAGEMENT, permissions: ['files:read'] }],
    ['for the platform', { kind: 'platform' }],
    ['with an end in the past', { ...MANAGEMENT, expires_at: '2020-01-01T00:00:00Z' }],
    ['with an end without zone', { ...MANAGEMENT, expires_at: '2099-01-01T00:00:00' }],
    ['with two ends', { ...MANAGEMENT, expires_at: '2099-01-01T00:00:00Z', expires_in_seconds: 60 }],
    ['with a number as its owner', { ...MANAGEMENT, user_id: 7 }],
    ['that ends on February 30', { ...MANAGEMENT, expires_at: '2099-02-30T00:00:00Z' }],
  ])('refuses a key %s, and the former one works on', async (_, body) => {
    const token = await tokenOf(call('save_key', MANAGEMENT))
    expect(refusalOf(await call('save_key', body))).toEqual([400, 'invalid_body'])
    expect(await who(token)).toMatchObject(MANAGEMENT)
  })

  it.each(['', 'a/b', 'a.b', 'x'.repeat(300), '🙂'])('refuses the name %j', async (name) => {
    for (const operation of ['save_key', 'retrieve_key_by_name', 'change_key', 'delete_key'] as const) {
      const body = operation === 'save_key' ? MANAGEMENT : {}
      const answer = await call(operation, body, { ...ACME, name })
      expect(refusalOf(answer), operation).toEqual([400, 'invalid_parameter'])
    }
  })
})

describe('PATCH and DELETE …/keys/{name}', () => {
  beforeEach(async () => void (await call('save_workspace', {})))

  it('change what is named, from the next request on, and delete for good', async () => {
    const token = await tokenOf(call('save_key', { permissions: ['files:read'], expires_in_seconds: 60 }))
    const change = { permissions: ['files:delete'], expires_at: null, requests_per_minute: 12 }
    expect(await bodyOf(call('change_key', change))).toMatchObject({ ...change, disabled: false })
    expect(await who(token)).toMatchObject(change)
    expect(await bodyOf(call('change_key', { disabled: true }))).toMatchObject({ ...change, disabled: true })
    expect(await who(token)).toBe(401)
    await call('change_key', { disabled: false })
    expect(await who(token)).toMatchObject(change)
    expect(await bodyOf(call('delete_key'))).toMatchObject({ ...ACME, deleted: true })
    expect(await who(token)).toBe(401)
    for (const name of ['delete_key', 'retrieve_key_by_name', 'change_key'] as const) {
      expect(refusalOf(await call(name, {})), name).toEqual([404, 'key_not_found'])
    }
  })

  it.each([{ disabled: 'yes' }, { kind: 'management' }])('refuse %j, and change nothing', async (body) => {
    const token = await tokenOf(call('save_key', { permissions: ['files:read'] }))
    expect(refusalOf(await call('change_key', body))).toEqual([400, 'invalid_body'])
    expect(await who(token)).toMatchObject({ permissions: ['files:read'] })
  })
})

describe('DELETE /workspaces/{workspace_id}', () => {
  beforeEach(async () => void (await call('save_workspace', {})))
  const workspaceId = 'ws_acme' as WorkspaceId
  const BYTES = { workspaceId, documentId: 'file_a' as never, attemptId: 'a' as never, sizeBytes: 1 }

  it('deletes an empty workspace with its keys, which the next request learns, and no other', async () => {
    const token = await tokenOf(call('save_key', MANAGEMENT))
    expect(await bodyOf(call('delete_workspace'))).toEqual({ workspace_id: 'ws_acme', deleted: true })
    expect(await who(token)).toBe(401)
    expect(await who(api.managementToken)).toMatchObject({ workspace_id: 'ws_1' })
    for (const name of ['delete_workspace', 'retrieve_workspace', 'list_keys', 'save_key'] as const) {
      const answer = await call(name, name === 'save_key' ? MANAGEMENT : {})
      expect(refusalOf(answer), name).toEqual([404, 'workspace_not_found'])
    }
  })

  it.each([
    ['there was none', () => call('delete_workspace'), 404],
    ['it is deleted', (): unknown => undefined, 200],
  ])('leaves a workspace that others make meanwhile, and its key, where %s', async (_, before, status) => {
    await before()
    const { administration } = api.dependencies
    const { ledger } = administration
    let left = status === 404 ? 1 : 2
    administration.ledger = {
      async read(...args) {
        const found = await ledger.read(...args)
        // Just before the last removal of keys.
        if (--left === 0) {
          api.clock.nowMs++
          await call('save_workspace', {})
          await call('save_key', MANAGEMENT)
        }
        return found
      },
    }
    expect((await call('delete_workspace')).status).toBe(status)
    for (const name of ['retrieve_workspace', 'retrieve_key_by_name'] as const)
      expect((await call(name)).status).toBe(200)
  })

  it.each([
    ['by its first promotion', 200],
    ['by PUT, after a deletion that ended half-way', 503],
  ])('made again %s, it has no limit of the former', async (_, status) => {
    await call('save_workspace', { requests_per_minute: 6 })
    const settingLimits = vi.spyOn(api.dependencies.administration.rateLimiter, 'setLimits')
    if (status === 503) settingLimits.mockRejectedValueOnce(new ServiceError('service_unavailable'))
    expect((await call('delete_workspace')).status).toBe(status)
    api.clock.nowMs += 1000
    if (status === 503) await call('save_workspace', {})
    api.putFile(PATH, CSV, 'text/csv', workspaceId)
    const token = api.apiKeys.add({ workspaceId })
    expect(await api.promote({ token })).toMatchObject({ status: 200, headers: RATE_HEADERS })
  })

  it('refuses one with documents, however small, and its keys work on', async () => {
    api.putFile('empty.txt', Buffer.alloc(0))
    expect((await api.promote({ path: 'empty.txt' })).status).toBe(200)
    const answer = await call('delete_workspace', {}, WS_1)
    expect(refusalOf(answer)).toEqual([400, 'workspace_not_empty'])
    expect(answer.body).toMatchObject({ error: { metadata: { documents: 1, used_bytes: 0 } } })
    expect(await who(api.managementToken)).toMatchObject({ workspace_id: 'ws_1' })
  })

  it('is done although a deletion that was killed has left its refund', async () => {
    const refund = { ...BYTES, refundId: 'r' as never, leaseEndsAtMs: api.clock.nowMs }
    expect(await api.ledger.beginRefund(refund, signal, 0)).not.toBe('crowded')
    expect((await call('delete_workspace')).status).toBe(200)
  })

  it('while a promotion is under way: says so, and its keys work on', async () => {
    const token = await tokenOf(call('save_key', MANAGEMENT))
    await api.ledger.hold({ ...BYTES, leaseEndsAtMs: api.clock.nowMs + 1 }, signal, 0)
    expect(refusalOf(await call('delete_workspace'))).toEqual([503, 'workspace_busy'])
    // Its process has died, and the document may be there: waiting does not help.
    api.clock.nowMs++
    expect(refusalOf(await call('delete_workspace'))).toEqual([400, 'workspace_not_empty'])
    expect(await who(token)).toMatchObject(MANAGEMENT)
  })

  it('deletes the keys, and says so, when a promotion that had begun takes its bytes meanwhile', async () => {
    const token = await tokenOf(call('save_key', MANAGEMENT))
    // It takes its bytes between the two reads.
    afterNext(api.dependencies.administration.ledger, 'read', () =>
      api.ledger.hold({ ...BYTES, leaseEndsAtMs: api.clock.nowMs }, signal, 0),
    )
    expect(refusalOf(await call('delete_workspace'))).toEqual([503, 'workspace_busy'])
    expect(await who(token)).toBe(401)
  })
})

it('a workspace whose erasure is asked for takes no file that was copied meanwhile, and nothing of it is left', async () => {
  await call('save_workspace', {}, WS_1)
  beforeNext(api.ledger, 'hold', () => api.closeWorkspace())
  expect(refusalOf(await api.promote())).toEqual([403, 'workspace_closed'])
  expectUntouched(api)
})
