import { describe, expect, it, vi } from 'vitest'
import { type ContainerId, type FilePath, formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { newDocument, newReservation } from '../support/ledger-values.ts'
import { LEASE_MS, type Step } from '../support/ports.ts'
import { CONTAINER, CSV, createTestApi, NOW_MS, PATH } from '../support/test-api.ts'

const WORKSPACE = 'ws_1' as WorkspaceId
const KEY = 'order-4711'
const withKey = (key = KEY) => ({ headers: { 'Idempotency-Key': key } })
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id

/** What an attempt with the key, begun so long ago, left behind when its process died: its object, perhaps its document. */
async function leaveBehind(
  api: ReturnType<typeof createTestApi>,
  ageMs: number,
  steps: Step[] = ['take', 'open', 'unmark'],
) {
  const documentId = documentIdOfKey(WORKSPACE, KEY)
  const one = newReservation({ documentId, sizeBytes: 8, leaseExpiresAtMs: NOW_MS + LEASE_MS - ageMs })
  const { signal } = new AbortController()
  await api.ledger.take(one, signal)
  await api.reservations.open(one, signal)
  if (steps.includes('unmark')) await api.ledger.unmark(one, signal)
  api.objects.documents.set(one.objectKey, { bytes: CSV, contentType: 'text/csv' })
  const names = { filename: PATH as FilePath, containerId: CONTAINER as ContainerId }
  if (steps.includes('record')) await api.documents.record({ ...newDocument(one), ...names }, signal)
  return one
}

const promotionsOf = ({ reservations }: ReturnType<typeof createTestApi>) =>
  [...reservations.items.values()].filter(({ purpose }) => purpose === 'promotion')

function expectOneDocument(api: ReturnType<typeof createTestApi>) {
  const { documents, objects, ledger } = api
  expect(documents.documents.size).toBe(1)
  expect(objects.documents.size).toBe(1)
  const workspace = ledger.workspaces.get(WORKSPACE)
  expect(workspace?.remainingBytes).toBe((workspace?.quotaBytes ?? 0) - CSV.length)
  expect([workspace?.takings.size, workspace?.releases.size]).toEqual([0, 0])
  expect(promotionsOf(api)).toEqual([])
}

describe('POST …/promote with an Idempotency-Key', () => {
  it('answers a repetition with the same document, marked as replayed, and counts it once', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    const second = await api.promote(withKey())
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    expect(second.headers['idempotency-replayed']).toBe('true')
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

  it('takes a quoted key for the same as a bare one', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey('a"b\\c'))
    expect(idOf(await api.promote(withKey('"a\\"b\\\\c"')))).toBe(idOf(first))
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

  it('is 400 when the key was used for another file, and says for which', async () => {
    const api = createTestApi()
    api.putFile('other.txt', CSV)
    await api.promote(withKey())
    expect(await api.promote({ ...withKey(), path: 'other.txt' })).toMatchObject({
      status: 400,
      body: { error: { metadata: { reason: 'idempotency_key_reused', container_id: CONTAINER, path: PATH } } },
    })
    expectOneDocument(api)
  })

  it('replays although the file, the room or the container is gone', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    api.objects.sandbox.clear()
    const workspace = api.ledger.workspaces.get(WORKSPACE)
    if (workspace) Object.assign(workspace, { quotaBytes: 8, remainingBytes: 0 })
    const second = await api.promote(withKey())
    expect([second.status, idOf(second)]).toEqual([200, idOf(first)])
  })

  it('replays without usage headers when the usage cannot be read', async () => {
    const api = createTestApi()
    await api.promote(withKey())
    vi.spyOn(api.ledger, 'usage').mockRejectedValue(new Error('down'))
    const second = await api.promote(withKey())
    expect(second.status).toBe(200)
    expect(second.headers).not.toHaveProperty('storage-used-bytes')
  })

  it('may be used again after a refusal', async () => {
    const api = createTestApi()
    expect((await api.promote({ ...withKey(), path: 'missing' })).status).toBe(404)
    expect((await api.promote(withKey())).status).toBe(200)
    expectOneDocument(api)
  })

  it.each([
    [0, '1'],
    [5000, '5'],
    [30_000, '10'],
    [39_999, '1'],
  ])(
    'is 503 while the first request, begun %d ms ago, may be running; Retry-After tells when it must be over',
    async (ageMs, retryAfter) => {
      const api = createTestApi()
      await leaveBehind(api, ageMs)
      expect(await api.promote(withKey())).toMatchObject({
        status: 503,
        headers: { 'retry-after': retryAfter },
        body: { error: { metadata: { reason: 'promotion_in_progress' } } },
      })
      expect(promotionsOf(api)).toHaveLength(1)
      expect(api.ledger.workspaces.get(WORKSPACE)).toMatchObject({ remainingBytes: 992 })
    },
  )

  it.each<[string, (api: ReturnType<typeof createTestApi>) => void]>([
    ['the file has gone', (api) => api.objects.sandbox.clear()],
    ['the file has grown too large', (api) => api.putFile(PATH, Buffer.alloc(501))],
    [
      'the quota has no room for two',
      (api) => Object.assign(api.ledger.workspaces.get(WORKSPACE) ?? {}, { remainingBytes: 0 }),
    ],
  ])('is 503 and no final refusal while the first one runs and %s meanwhile', async (_, change) => {
    const api = createTestApi()
    await leaveBehind(api, 1000)
    change(api)
    expect(await api.promote(withKey())).toMatchObject({
      status: 503,
      body: { error: { metadata: { reason: 'promotion_in_progress' } } },
    })
  })

  it.each<[string, number, Step[]]>([
    ['40 s after it began, when nothing lives so long', 40_000, ['take', 'open', 'unmark']],
    ['as soon, whatever of its marker is left', 40_000, ['take', 'open']],
    ['once its lease is over, too', LEASE_MS, ['take', 'open', 'unmark']],
  ])('fixed: takes the place of a dead first request %s, and clears up after it', async (_, ageMs, steps) => {
    const api = createTestApi()
    const dead = await leaveBehind(api, ageMs, steps)
    const response = await api.promote(withKey())
    expect(response.status).toBe(200)
    expect(response.headers).not.toHaveProperty('idempotency-replayed')
    expect(api.objects.documents.has(dead.objectKey)).toBe(false)
    expectOneDocument(api)
    // Its copy may arrive late.
    expect([...api.reservations.items.values()]).toMatchObject([{ purpose: 'late_copy', attemptId: dead.attemptId }])
  })

  it.each([1000, 40_000, LEASE_MS])(
    'replays the document of a first request that died between record and settle, %d ms after it began',
    async (ageMs) => {
      const api = createTestApi()
      const dead = await leaveBehind(api, ageMs, ['take', 'open', 'unmark', 'record'])
      const response = await api.promote(withKey())
      expect([response.status, idOf(response)]).toEqual([200, dead.documentId])
      expect(response.headers['idempotency-replayed']).toBe('true')
    },
  )

  it.each([
    [
      'with the twin done after the first look',
      (api: ReturnType<typeof createTestApi>) => vi.spyOn(api.documents, 'find').mockResolvedValueOnce(undefined),
    ],
  ])('undoes its own work and replays, %s', async (_, hide) => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    hide(api)
    const second = await api.promote(withKey())
    expect([second.status, idOf(second)]).toEqual([200, idOf(first)])
    expect(second.headers['idempotency-replayed']).toBe('true')
    expectOneDocument(api)
  })

  it('makes one document of 100 simultaneous requests, counted once; who gets 503 gets the document on repeating', async () => {
    const api = createTestApi({ rateLimiter: unlimited() })
    const responses = await Promise.all(Array.from({ length: 100 }, () => api.promote(withKey())))
    const repeated = await Promise.all(
      responses.map((response) => (response.status === 503 ? api.promote(withKey()) : response)),
    )
    expect(responses.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(repeated.map(idOf)).size).toBe(1)
    expectOneDocument(api)
  })

  it.each(['', ' ', 'a b', 'ключ', 'a\tb', '"', '""', '"a', '"a b"', 'x'.repeat(256), '"\\x"'])(
    'is 400 for the key %j',
    async (key) => {
      const api = createTestApi()
      expect(await api.promote(withKey(key))).toMatchObject({
        status: 400,
        body: { error: { metadata: { reason: 'invalid_idempotency_key' } } },
      })
      expect(api.documents.documents.size).toBe(0)
    },
  )

  it('is 400 for two keys', async () => {
    const { status } = await createTestApi().promote({ headers: { 'Idempotency-Key': ['a', 'b'] } })
    expect(status).toBe(400)
  })

  it.each(['x'.repeat(255), `"${'x'.repeat(255)}"`, "!#$%&'*+-.^_`|~", 'cfile_YQ'])(
    'accepts the key %s',
    async (key) => {
      expect((await createTestApi().promote(withKey(key))).status).toBe(200)
    },
  )

  it('costs a request without the header nothing', async () => {
    const api = createTestApi()
    const find = vi.spyOn(api.documents, 'find')
    await api.promote({ fileId: formatFileId(PATH) })
    expect(find).not.toHaveBeenCalled()
  })
})

function unlimited() {
  const decision = { isAllowed: true, remaining: 1, resetMs: 0, retryAfterMs: 0 }
  return { policy: { requestsPerMinute: 1, burst: 1 }, take: async () => decision }
}
