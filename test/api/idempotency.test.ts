import { afterEach, describe, expect, it, vi } from 'vitest'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { expectRefusal, idOf, RATE_HEADERS, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, FOREIGN, KEY, PATH, type TestApi, useTestApi, withKey } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'
import { LEASE_MS, NOW_MS, WORKSPACE } from '../support/ports.ts'
import type { TestKey } from '../support/stores/keys-and-limits.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
const api = useTestApi()
afterEach(() => vi.restoreAllMocks())

/** Expects one document, counted once, and no hold. */
function expectOneDocument({ stored, objects }: TestApi) {
  expect(stored.items().map(({ state }) => state)).toEqual(['ready'])
  expect(objects.documents.size).toBe(1)
  expect(stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: CSV.length, holds: [], refunds: [] })
}

describe('POST …/promote with an Idempotency-Key', () => {
  it('answers a repetition with the same document, marked as replayed, and holds no bytes', async () => {
    const first = await api.promote(withKey())
    const second = await api.promote(withKey())
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.headers['file-sha256']).toBe(first.headers['file-sha256'])
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
    expect(second.headers['storage-used-bytes']).toBe('8')
    expectOneDocument(api)
  })

  it('takes a quoted key, with white space around it, for the same as a bare one', async () => {
    const first = await api.promote(withKey('a"b\\c'))
    expect(idOf(await api.promote(withKey(' "a\\"b\\\\c" ')))).toBe(idOf(first))
    expectOneDocument(api)
  })

  it('makes different documents of different keys, and of the same key in another workspace', async () => {
    api.putFile(PATH, CSV, 'text/csv', FOREIGN)
    const foreign = { ...withKey('one'), token: api.foreignToken }
    const ids = [withKey('one'), withKey('two'), foreign].map(async (request) => idOf(await api.promote(request)))
    expect(new Set(await Promise.all(ids)).size).toBe(3)
  })

  it('is answered without the usage when that cannot be read, and the log says why', async () => {
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

  const OTHER_FILE = { path: 'other.txt' }
  it.each<[string, { path?: string; containerId?: string }, TestKey | undefined, boolean]>([
    ['by itself', OTHER_FILE, undefined, true],
    ['by itself for the same path in another container', { containerId: 'sess_2' }, undefined, true],
    ['by a key, to one that may only promote', OTHER_FILE, { permissions: ['files:promote'] }, false],
    ['to one that may read containers', OTHER_FILE, { permissions: ['files:promote', 'containers:read'] }, true],
    ['to a management key', OTHER_FILE, { kind: 'management', permissions: [] }, true],
  ])('is 400 for another file than it was used for, named only to who may know: %s', async (_, other, key, isNamed) => {
    api.putFile('other.txt', CSV)
    api.putFile(PATH, CSV, 'text/csv', 'ws_1', 'sess_2')
    await api.promote(withKey())
    const token = key ? api.apiKeys.add(key) : api.token
    const refused = await api.promote({ ...withKey(), token, ...other })
    const named = isNamed ? { container_id: CONTAINER, path: PATH } : {}
    const headers = { ...RATE_HEADERS, ratelimit: '"default";r=3;t=2' }
    expectRefusal(refused, 'idempotency_key_reused', named, { headers })
    expectOneDocument(api)
  })

  it('replays although there is no room any more', async () => {
    const first = await api.promote(withKey())
    await api.stored.setUsage(WORKSPACE, { quotaBytes: 8, usedBytes: 8 })
    const second = await api.promote(withKey())
    expect([second.status, idOf(second)]).toEqual([200, idOf(first)])
  })

  it('may be used again after a refusal, which waits for nobody', async () => {
    expect((await api.promote({ ...withKey(), path: 'missing' })).status).toBe(404)
    expect(time.pausesMs).toEqual([])
    expect((await api.promote(withKey())).status).toBe(200)
    expectOneDocument(api)
  })

  it('is 400 for what is no key, and for two keys', async () => {
    const none = ['', ' ', 'a b', 'ключ', 'a\tb', '"', '""', '"a', '"a b"', 'x'.repeat(256), '"\\x"']
    for (const key of [...none, ['a', 'b']]) {
      api.clock.nowMs += 1000
      const refused = await api.promote({ headers: { 'Idempotency-Key': key } })
      expect(refusalOf(refused), String(key)).toEqual([400, 'invalid_idempotency_key'])
    }
    expect(api.stored.documents().length).toBe(0)
  })

  it('may be of any characters of a token, and of 255 of them', async () => {
    for (const key of ['x'.repeat(255), `"${'x'.repeat(255)}"`, "!#$%&'*+-.^_`|~", 'cfile_YQ'])
      expect((await api.promote(withKey(key))).status, key).toBe(200)
  })
})

const FILE_KEY = `sandboxes/ws_1/${CONTAINER}/${PATH}`

/** Leaves what an attempt with the key, begun this long ago, leaves when its process dies before the record. */
async function leaveBehind(api: TestApi, ageMs: number) {
  const documentId = documentIdOfKey(WORKSPACE, KEY)
  const one = newAttempt({ documentId, sizeBytes: 8, leaseEndsAtMs: NOW_MS + LEASE_MS - ageMs })
  const { signal } = new AbortController()
  await api.documents.begin(pendingOf(one), undefined, signal)
  api.objects.documents.set(one.objectKey, storedObject({ bytes: CSV, contentType: 'text/csv' }))
  await api.ledger.hold(one, signal, 0)
  return one
}

describe('POST …/promote with an Idempotency-Key, beside the first request with it', () => {
  it('is 503 while the first request may be running; Retry-After tells when it must be over', async () => {
    await leaveBehind(api, 30_000)
    const response = await api.promote(withKey())
    expect([...refusalOf(response), response.headers['retry-after']]).toEqual([503, 'promotion_in_progress', '10'])
    expect(api.stored.items()).toMatchObject([{ state: 'pending' }])
    expect(api.stored.ledgerOf('ws_1')).toMatchObject({ usedBytes: 8 })
  })

  it.each<[string, (api: TestApi) => unknown]>([
    ['the container has gone', (api) => api.objects.sandbox.clear()],
    ['the file alone has gone', (api) => api.putFile('other', CSV) && api.objects.sandbox.delete(FILE_KEY)],
    ['the file has grown too large', (api) => api.putFile(PATH, Buffer.alloc(501))],
    ['the quota has no room for two', (api) => api.stored.setUsage(WORKSPACE, { quotaBytes: 8, usedBytes: 8 })],
  ])('is 503 and no final refusal while the first one runs and %s meanwhile', async (_, change) => {
    await leaveBehind(api, 1000)
    await change(api)
    expect(refusalOf(await api.promote(withKey()))).toEqual([503, 'promotion_in_progress'])
  })

  it('takes the place of a first request 40 s after it began, when nothing lives so long, and clears up after it', async () => {
    const dead = await leaveBehind(api, 40_000)
    const response = await api.promote(withKey())
    expect(response.status).toBe(200)
    expect(response.headers).not.toHaveProperty('idempotency-replayed')
    expect(api.objects.documents.has(dead.objectKey)).toBe(false)
    expect(api.stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: 8, holds: [] })
    // Its copy may arrive late.
    expect(api.stored.items()).toMatchObject([{ state: 'ready' }, { state: 'stray', attemptId: dead.attemptId }])
  })
})
