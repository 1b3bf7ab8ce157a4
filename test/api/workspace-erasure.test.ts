import { expect, it, vi } from 'vitest'
import { eraseWorkspace } from '../../lib/administration/erase-workspace.ts'
import type { ErasedObjects } from '../../lib/administration/ports/erasures.ts'
import type { OperationName } from '../support/api/operations.ts'
import { idOf, refusalOf } from '../support/api/promotion-answers.ts'
import { CSV, createTestApi, UNLIMITED, withKey } from '../support/api/test-api.ts'
import { beforeNext } from '../support/beside.ts'
import { WORKSPACE } from '../support/ports.ts'

const DAY_S = 86_400
const DAY_MS = 1000 * DAY_S
const { signal } = new AbortController()
const PARAMETERS = { workspace_id: 'ws_1', name: 'ci' }
const KEY = { permissions: ['files:read'] }
const iso = (ms: number) => new Date(ms).toISOString()

function prepare({ leastErasureSeconds = 0 } = {}) {
  const api = createTestApi({ rateLimiter: UNLIMITED })
  Object.assign(api.dependencies.administration, { leastErasureSeconds })
  const call = (name: OperationName, body: object | string = {}, parameters: object = {}) =>
    api.call(name, { parameters: { ...PARAMETERS, ...parameters }, ...(name.startsWith('save') && { body }) })
  const bodyOf = async (answer: ReturnType<typeof call>) => (await answer).body as Record<string, unknown>
  type Found = Awaited<ReturnType<ErasedObjects['erase']>>
  /** What the function does. @param found of each bucket @param sandbox of that one */
  const erase = (found: Found = { erased: 0, refused: 0 }, sandbox: Found = found) => {
    const eraseOf: ErasedObjects['erase'] = async ({ bucket }) => (bucket === 'sandbox' ? sandbox : found)
    const deps = { ...api.ports, apiKeys: api.ports.keyAdministration, erasedObjects: { erase: eraseOf } }
    return eraseWorkspace(WORKSPACE, deps, signal)
  }
  return { ...api, ask: call, bodyOf, erase }
}

it('closes the workspace from the request on; until it begins, its keys read and delete, and it can be taken back', async () => {
  const { ask, bodyOf, call, clock, objects, promote, putFile } = prepare()
  const id = idOf(await promote(withKey()))
  const began = clock.nowMs
  const asked = await bodyOf(ask('save_erasure', { after_seconds: DAY_S }))
  expect(asked).toEqual({
    ...{ workspace_id: 'ws_1', state: 'scheduled', requested_at: iso(began), begins_at: iso(began + DAY_MS) },
    ...{ ended_at: null, verified_at: null, documents_left: 1, bytes_left: CSV.length, remains: [] },
  })
  expect(await bodyOf(ask('retrieve_erasure'))).toEqual(asked)
  expect(await bodyOf(ask('retrieve_workspace'))).toMatchObject({ erasure: 'scheduled' })
  putFile('more.csv', CSV)
  const copying = vi.spyOn(objects, 'copy')
  for (const request of [{ path: 'more.csv' }, withKey('another')])
    expect(refusalOf(await promote(request))).toEqual([403, 'workspace_closed'])
  expect(idOf(await promote(withKey()))).toBe(id)
  expect(copying).not.toHaveBeenCalled()
  expect(refusalOf(await ask('save_key', KEY))).toEqual([400, 'workspace_erased'])
  expect(refusalOf(await ask('delete_workspace'))).toEqual([400, 'workspace_erased'])
  expect((await call('list_documents')).status).toBe(200)
  expect((await ask('save_workspace', { label: 'leaves' })).status).toBe(200)
  expect(await bodyOf(ask('cancel_erasure'))).toEqual({ workspace_id: 'ws_1', cancelled: true })
  for (const name of ['cancel_erasure', 'retrieve_erasure'] as const)
    expect(refusalOf(await ask(name))).toEqual([404, 'erasure_not_found'])
  expect((await promote({ path: 'more.csv' })).status).toBe(200)
  expect((await ask('save_key', KEY)).status).toBe(200)
})

it('is worked off, says how far it is and what remains with its end, and the id is never given again', async () => {
  const { ask, bodyOf, clock, erase, promote, stored } = prepare()
  await promote()
  await ask('save_erasure')
  const began = clock.nowMs
  await erase({ erased: 0, refused: 1, reason: 'AccessDenied' })
  const locked = { what: 'objects', count: 2, reason: 'AccessDenied', until: null }
  expect(await bodyOf(ask('retrieve_erasure'))).toMatchObject({ state: 'erasing', remains: [locked], ended_at: null })
  expect(stored.documents()).toEqual([])
  for (const name of ['cancel_erasure', 'save_workspace', 'save_key', 'delete_workspace'] as const) {
    const reason = name === 'cancel_erasure' ? 'erasure_began' : 'workspace_erased'
    expect(refusalOf(await ask(name, name === 'save_key' ? KEY : {}))).toEqual([400, reason])
  }
  clock.nowMs += 3_600_000
  await erase()
  const ended = clock.nowMs
  clock.nowMs += 20 * 60_000
  await erase(undefined, { erased: 0, refused: 0, isDenied: true, reason: 'AccessDenied' })
  const erased = await bodyOf(ask('retrieve_erasure'))
  const times = { ended_at: iso(ended), verified_at: iso(clock.nowMs) }
  expect(erased).toMatchObject({ state: 'erased', ...times, documents_left: 0, bytes_left: 0 })
  const DAYS = { backups: 35, traces: 30, kept_events: 14, request_counts: 3, events_of_stream: 1, logs: 30 }
  expect(erased.remains).toEqual([
    { what: 'container_files', reason: 'AccessDenied', until: null },
    { what: 'late_uploads', until: iso(began + 7 * DAY_MS + 3_600_000) },
    ...Object.entries(DAYS).map(([what, days]) => ({ what, until: iso(ended + days * DAY_MS) })),
    { what: 'events_delivered', until: null },
  ])
  expect(await bodyOf(ask('save_erasure', { after_seconds: 0 }))).toEqual(erased)
  // URLs for uploads have ended: the last look.
  clock.nowMs = began + 7 * DAY_MS + 3_600_000
  expect(await erase()).toMatchObject({ state: 'erased' })
  expect(JSON.stringify(await bodyOf(ask('retrieve_erasure')))).not.toContain('late_uploads')
  expect(await erase()).toBeUndefined()
  expect(refusalOf(await ask('save_workspace'))).toEqual([400, 'workspace_erased'])
})

it('of two times, the earlier holds, but never one before the least that the service is set to', async () => {
  const { ask, bodyOf, clock } = prepare({ leastErasureSeconds: DAY_S })
  const began = clock.nowMs
  await ask('save_workspace')
  const beginsAt = async (days: number) =>
    (await bodyOf(ask('save_erasure', { after_seconds: days * DAY_S }))).begins_at
  expect(await beginsAt(3)).toBe(iso(began + 3 * DAY_MS))
  expect(await beginsAt(9)).toBe(iso(began + 3 * DAY_MS))
  clock.nowMs += 1000
  expect(await beginsAt(0)).toBe(iso(began + DAY_MS + 1000))
  expect(await bodyOf(ask('retrieve_erasure'))).toMatchObject({ requested_at: iso(began) })
})

it('closes a workspace that is nothing but a key, too; where there is neither, it is 404', async () => {
  const { ask, promote } = prepare()
  for (const name of ['save_erasure', 'retrieve_erasure', 'cancel_erasure'] as const)
    expect(refusalOf(await ask(name, {}, { workspace_id: 'ws_none' }))).toEqual([404, 'workspace_not_found'])
  expect((await ask('save_erasure')).status).toBe(200)
  expect(refusalOf(await promote())).toEqual([403, 'workspace_closed'])
})

it('a key that is made while the erasure is asked for does not stay', async () => {
  const { ask, dependencies } = prepare()
  const { apiKeys } = dependencies.administration
  await ask('save_workspace')
  beforeNext(apiKeys, 'add', () => ask('save_erasure'))
  expect(refusalOf(await ask('save_key', KEY))).toEqual([400, 'workspace_erased'])
  const keys = await Array.fromAsync(apiKeys.list({ workspaceId: WORKSPACE }, signal))
  expect(keys).not.toContainEqual(expect.objectContaining({ name: 'ci' }))
})

it('begins within thirty days, or closes nothing', async () => {
  const { ask, promote } = prepare()
  const answer = await ask('save_erasure', { after_seconds: 2_592_001 })
  expect(refusalOf(answer)).toEqual([400, 'invalid_body'])
  expect(JSON.stringify(answer.body)).toContain('after_seconds must be a whole number from 0 to 2592000')
  expect((await promote()).status).toBe(200)
})

it('needs the permission workspaces:erase, which GET /key tells; to see it, any platform key will do', async () => {
  const { apiKeys, ask, call, platformToken } = prepare()
  const token = apiKeys.add({ kind: 'platform', permissions: [] })
  await ask('save_erasure')
  for (const name of ['save_erasure', 'cancel_erasure'] as const) {
    const answer = await call(name, { parameters: PARAMETERS, token })
    expect(refusalOf(answer)).toEqual([403, 'permission_denied'])
    expect(answer.body).toMatchObject({ error: { metadata: { required_permission: 'workspaces:erase' } } })
  }
  expect((await call('retrieve_erasure', { parameters: PARAMETERS, token })).status).toBe(200)
  expect((await call('retrieve_key', { token })).body).toMatchObject({ permissions: [] })
  const told = (await call('retrieve_key', { token: platformToken })).body
  expect(told).toMatchObject({ permissions: ['workspaces:erase'] })
})
