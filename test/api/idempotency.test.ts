import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ApiKey } from '../../lib/auth/caller.ts'
import { REASONS } from '../../lib/errors.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import { expectOneDocument, idOf, KEY, withKey } from '../support/api/idempotent-promotions.ts'
import { expectRefusal, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
afterEach(() => vi.restoreAllMocks())

describe('POST …/promote with an Idempotency-Key', () => {
  it('answers a repetition with the same document, marked as replayed, and takes no bytes', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    const take = vi.spyOn(api.ledger, 'take')
    const find = vi.spyOn(api.documents, 'find')
    const second = await api.promote(withKey())
    expect([take.mock.calls, find.mock.calls]).toEqual([[], []])
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.headers['file-sha256']).toBe(first.headers['file-sha256'])
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect(second.headers['storage-used-bytes']).toBe('8')
    expectOneDocument(api)
  })

  it('replays in whatever shape is asked for', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    const second = await api.promote({ headers: { 'Idempotency-Key': KEY, 'File-Shape': 'compat_b' } })
    expect(second.body).toMatchObject({ _shape: 'compat_b', id: idOf(first), bytes: 8 })
  })

  it('takes a quoted key, with white space around it, for the same as a bare one', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey('a"b\\c'))
    expect(idOf(await api.promote(withKey(' "a\\"b\\\\c" ')))).toBe(idOf(first))
    expectOneDocument(api)
  })

  it('makes different documents of different keys, and of the same key in another workspace', async () => {
    const api = createTestApi()
    api.putFile(PATH, CSV, 'text/csv', 'ws_2')
    const token = api.apiKeys.add({ workspaceId: 'ws_2' as WorkspaceId, keyId: 'key_2' })
    const ids = [
      idOf(await api.promote(withKey('one'))),
      idOf(await api.promote(withKey('two'))),
      idOf(await api.promote({ headers: { 'Idempotency-Key': 'one', Authorization: `Bearer ${token}` } })),
    ]
    expect(new Set(ids).size).toBe(3)
  })

  it.each([
    ['another file', { path: 'other.txt' }],
    ['a file of the same path in another container', { containerId: 'sess_2' }],
  ])('is 400 when the key was used for %s, and tells whoever used it for which', async (_, other) => {
    const api = createTestApi()
    api.putFile('other.txt', CSV)
    api.putFile(PATH, CSV, 'text/csv', 'ws_1', 'sess_2')
    await api.promote(withKey())
    const metadata = { reason: 'idempotency_key_reused', container_id: CONTAINER, path: PATH }
    expect(await api.promote({ ...withKey(), ...other })).toMatchObject({ status: 400, body: { error: { metadata } } })
    expectOneDocument(api)
  })

  it('is answered without the usage when that cannot be read, and the log says why', async () => {
    const api = createTestApi()
    await api.promote(withKey())
    const error = new Error('down')
    // Its file is gone: it is looked for by its key.
    api.objects.sandbox.clear()
    vi.spyOn(api.ledger, 'read').mockRejectedValue(error)
    vi.spyOn(api.ledger, 'usage').mockRejectedValue(error)
    const replayed = await api.promote(withKey())
    expect(replayed.status).toBe(200)
    expect(replayed.headers).not.toHaveProperty('storage-used-bytes')
    const message = 'storage usage not read, request answered without it'
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', message, error }))
  })

  it.each<[string, Partial<ApiKey>, boolean]>([
    ['one that may only promote', { permissions: ['files:promote'] }, false],
    ['one that may read containers', { permissions: ['files:promote', 'containers:read'] }, true],
    ['a management key', { kind: 'management', permissions: [] }, true],
  ])('tells %s of what another key promoted only what it may know', async (_, key, isNamed) => {
    const api = createTestApi()
    api.putFile('other.txt', CSV)
    await api.promote(withKey())
    const Authorization = `Bearer ${api.apiKeys.add({ keyId: 'key_other', ...key })}`
    const request = { headers: { ...withKey().headers, Authorization }, path: 'other.txt' }
    const { detail } = REASONS.idempotency_key_reused
    const named = isNamed && { container_id: CONTAINER, path: PATH }
    const metadata = { reason: 'idempotency_key_reused', detail, ...named }
    expectRefusal(await api.promote(request), 400, 'Invalid request parameters', metadata)
    expectOneDocument(api)
  })

  it('replays although the file, the room or the container is gone', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    api.objects.sandbox.clear()
    await api.stored.setUsage('ws_1', { quotaBytes: 8, usedBytes: 8 })
    const second = await api.promote(withKey())
    expect([second.status, idOf(second)]).toEqual([200, idOf(first)])
  })

  it('may be used again after a refusal, which waits for nobody', async () => {
    const api = createTestApi()
    expect((await api.promote({ ...withKey(), path: 'missing' })).status).toBe(404)
    expect(time.pausesMs).toEqual([])
    expect((await api.promote(withKey())).status).toBe(200)
    expectOneDocument(api)
  })

  it('is 400 for what is no key, and for two keys', async () => {
    const api = createTestApi({ rateLimiter: UNLIMITED })
    const none = ['', ' ', 'a b', 'ключ', 'a\tb', '"', '""', '"a', '"a b"', 'x'.repeat(256), '"\\x"']
    for (const key of [...none, ['a', 'b']]) {
      const refused = await api.promote({ headers: { 'Idempotency-Key': key } })
      expect(refusalOf(refused), String(key)).toEqual([400, 'invalid_idempotency_key'])
    }
    expect(api.stored.documents().length).toBe(0)
  })

  it.each(['x'.repeat(255), `"${'x'.repeat(255)}"`, "!#$%&'*+-.^_`|~", 'cfile_YQ'])(
    'accepts the key %s',
    async (key) => {
      expect((await createTestApi().promote(withKey(key))).status).toBe(200)
    },
  )
})
