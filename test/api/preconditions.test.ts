import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { REASONS } from '../../lib/errors.ts'
import { formatFileId } from '../../lib/ids.ts'
import { UNLIMITED } from '../support/api/documents-api.ts'
import { idOf } from '../support/api/idempotent-promotions.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { expectRefusal, expectUntouched, refusalOf, UNLIMITED_HEADERS } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { contentOf } from '../support/aws/memory-s3.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const OTHER = Buffer.from('a,b\n1,3\n')
const LARGER = Buffer.from('a,b\n1,2\n3,4\n')

let api: ReturnType<typeof createTestApi>
const watch = () => vi.spyOn(api.objects, 'findContainerFile')
let lookUp: ReturnType<typeof watch>
beforeEach(() => {
  api = createTestApi({ rateLimiter: UNLIMITED })
  lookUp = watch()
})

const etagOf = async () => {
  const parameters = { container_id: CONTAINER, file_id: formatFileId(PATH) }
  const { headers } = await api.call('retrieve_container_file', { parameters })
  lookUp.mockClear()
  return headers.etag ?? ''
}
const promote = (headers: Record<string, string>) => api.promote({ headers })
const promotedBytes = () => [...api.objects.documents.values()].map((object) => contentOf(object).toString())
const waited = () => time.pausesMs.reduce((sum, ms) => sum + ms, 0)
/** Puts the file there once so much has been waited for. */
const putAfter = (ms: number, bytes: Buffer) => {
  time.beforePause = () => {
    if (waited() <= ms && ms <= waited() + 900) api.putFile(PATH, bytes, 'text/csv')
  }
}

describe('POST …/promote with preconditions', () => {
  it('promotes the file that they name, by the ETag that GET answers, in a list, without quotes or weakened by a proxy', async () => {
    const etag = await etagOf()
    for (const each of [etag, etag.replaceAll('"', ''), `"x", ${etag}`, `W/${etag}`, '*']) {
      expect((await promote({ 'If-Match': each, 'File-Bytes': '8' })).status).toBe(200)
    }
  })

  it.each<[string, (etag: string) => Record<string, string>, string?]>([
    ['the ETag is another', () => ({ 'If-Match': '"0123"' })],
    [
      'a proxy has changed the ETag',
      (etag) => ({ 'If-Match': `W/"x", W/${etag.slice(0, -1)}-gzip"` }),
      'A proxy has added',
    ],
    ['the size is another', (etag) => ({ 'If-Match': etag, 'File-Bytes': '9' })],
  ])('is 400 with what is there when %s, and nothing is kept', async (_, headersFor, why) => {
    const etag = await etagOf()
    const response = await promote(headersFor(etag))
    const detail = why ? expect.stringContaining(why) : REASONS.container_file_differs.detail
    const there = { container_id: CONTAINER, path: PATH, etag, file_bytes: 8 }
    const metadata = { reason: 'container_file_differs', detail, ...there }
    expectRefusal(response, 400, 'Invalid request parameters', metadata, { headers: UNLIMITED_HEADERS })
    expect([lookUp.mock.calls.length, time.pausesMs]).toEqual([1, []])
    expectUntouched(api)
  })
})

describe('POST …/promote with Prefer: wait', () => {
  const gone = () => api.objects.sandbox.delete(`sandboxes/ws_1/${CONTAINER}/${PATH}`)
  const wait = (seconds: number, more = {}) => promote({ Prefer: `wait=${seconds}`, ...more })

  it('answers a file that is there at once, and says that the preference was applied', async () => {
    const { status, headers } = await wait(20)
    expect([status, headers['preference-applied'], time.pausesMs]).toEqual([200, 'wait=20', []])
    expect((await promote({})).headers).not.toHaveProperty('preference-applied')
    expect((await wait(0)).headers).not.toHaveProperty('preference-applied')
  })

  it.each([0, 300, 10_000, 19_000])('finds a file that comes after %i ms within a second', async (ms) => {
    gone()
    putAfter(ms, CSV)
    const { status, headers } = await wait(20)
    expect([status, headers['preference-applied']]).toEqual([200, 'wait=20'])
    expect(waited() - ms).toBeLessThanOrEqual(1000)
    if (ms === 10_000) expect(lookUp.mock.calls.length).toBeLessThanOrEqual(14)
  })

  it('tells in PromotionTime what the service took, and in the log what the caller let it wait', async () => {
    gone()
    putAfter(3000, CSV)
    const { copy } = api.objects
    api.objects.copy = (...args) => {
      api.clock.nowMs += waited() + 250
      return copy(...args)
    }
    expect((await wait(20)).status).toBe(200)
    expect(api.published[0]?.PromotionTime).toBeLessThanOrEqual(250)
    expect(Object.keys(api.published[0] ?? {})).not.toContain('undefined')
    expect(api.logged[0]).toMatchObject({ duration_ms: waited() + 250, steps_ms: { wait: expect.any(Number) } })
  })

  it('waits 20 seconds at most, and says so, whoever asks for more', async () => {
    gone()
    api.putFile('other.txt', CSV)
    const { headers, body } = await wait(60)
    expect(headers['preference-applied']).toBe('wait=20')
    expect(JSON.stringify(body)).toMatch(/no file at this path\. The request waited 20 seconds for it\./)
    expect(JSON.stringify((await wait(0)).body)).not.toContain('waited')
  })

  it('waits until a file that is overwritten is the one that is meant', async () => {
    const known = await etagOf()
    api.putFile(PATH, OTHER, 'text/csv')
    putAfter(3000, CSV)
    expect((await wait(20, { 'If-Match': known })).status).toBe(200)
    putAfter(waited() + 2000, LARGER)
    expect((await wait(20, { 'File-Bytes': String(LARGER.length) })).status).toBe(200)
    expect(promotedBytes()).toEqual([CSV.toString(), LARGER.toString()])
  })

  it('gives up when the time is over, having looked at the file alone until then, and written nothing', async () => {
    gone()
    api.putFile('other.txt', CSV)
    const hasContainer = vi.spyOn(api.objects, 'hasContainer')
    const take = vi.spyOn(api.ledger, 'take')
    const missing = await wait(3)
    expect(refusalOf(missing)).toEqual([404, 'container_file_not_found'])
    expect(missing.headers['preference-applied']).toBe('wait=3')
    expect(time.pausesMs.slice(0, 3)).toEqual([500, 700, 900])
    expect(waited()).toBeGreaterThan(2100)
    expect(waited()).toBeLessThanOrEqual(3000)
    expect([lookUp, hasContainer, take].map(({ mock }) => mock.calls.length)).toEqual([5, 1, 0])
    api.putFile(PATH, OTHER, 'text/csv')
    expect(refusalOf(await wait(3, { 'If-Match': '"x"' }))).toEqual([400, 'container_file_differs'])
    expectUntouched(api)
  })

  it('looks again for a file that becomes another one while it is copied, which is 503 without it', async () => {
    const overwriting = () => {
      const { copy } = api.objects
      vi.spyOn(api.objects, 'copy').mockImplementationOnce((...args) => {
        api.putFile(PATH, LARGER, 'text/csv')
        return copy(...args)
      })
    }
    overwriting()
    expect(refusalOf(await promote({}))).toEqual([503, 'container_file_changed'])
    api.putFile(PATH, CSV, 'text/csv')
    overwriting()
    expect((await wait(20)).status).toBe(200)
    expect(promotedBytes()).toEqual([LARGER.toString()])
  })

  it('waits for less if the request would have no time left to promote', async () => {
    gone()
    const headers = { Prefer: 'wait=20' }
    expect((await api.promote({ headers, remainingMs: 10_000 })).status).toBe(404)
    expect(waited()).toBeGreaterThanOrEqual(2100)
    expect(waited()).toBeLessThanOrEqual(2500)
    time.pausesMs = []
    expect((await api.promote({ headers, remainingMs: 7000 })).status).toBe(404)
    expect(time.pausesMs).toEqual([])
  })

  it('waits for no file that may not be promoted', async () => {
    api.putFile(PATH, Buffer.alloc(501))
    expect(refusalOf(await wait(20))).toEqual([413, 'file_too_large'])
    api.putFile(PATH, Buffer.alloc(0), 'application/x-directory')
    expect(refusalOf(await wait(20))).toEqual([404, 'container_file_not_regular'])
    expect(time.pausesMs).toEqual([])
  })

  it('tries no second time when the quota is full: only another file is waited for', async () => {
    api.putFile(PATH, Buffer.alloc(450), 'text/csv')
    expect([(await wait(20)).status, (await wait(20)).status]).toEqual([200, 200])
    expect(refusalOf(await wait(20))).toEqual([403, 'storage_quota_exceeded'])
    expect([time.pausesMs, api.objects.documents.size]).toEqual([[], 2])
  })

  it('is 429 where as many requests of the key wait already as may, and says when to come back', async () => {
    const rateLimiter = { ...UNLIMITED, beginWait: async () => ({ retryAfterMs: 19_100 }) }
    api = createTestApi({ rateLimiter })
    gone()
    const { status, headers, body } = await wait(20)
    const metadata = { reason: 'rate_limited', detail: expect.stringContaining('Prefer: wait') }
    expect([status, headers['retry-after'], body]).toMatchObject([429, '20', { error: { metadata } }])
    expect(time.pausesMs).toEqual([])
  })

  it('passes the rate limit before it looks again', async () => {
    let pass: (decision: object) => void = () => {}
    const decision = new Promise<never>((resolve) => {
      pass = resolve as never
    })
    api = createTestApi({ rateLimiter: { ...UNLIMITED, take: () => decision } })
    gone()
    const waiting = wait(20)
    await new Promise((resolve) => setImmediate(resolve))
    expect(time.pausesMs).toEqual([])
    putAfter(100, CSV)
    pass({ isAllowed: true, remaining: 1, resetMs: 0, retryAfterMs: 0 })
    expect((await waiting).status).toBe(200)
  })
})

describe('POST …/promote with File-Sha256', () => {
  const [MEANT, OTHERS] = [sha256Of(CSV), sha256Of(OTHER)]

  it('undoes the copy of another file, and says what is there', async () => {
    const etag = await etagOf()
    const metadata = { reason: 'container_file_differs', etag, file_bytes: 8 }
    for (const key of [{}, { 'Idempotency-Key': 'k' }]) {
      const response = await promote({ ...key, 'If-Match': etag, 'File-Sha256': OTHERS })
      expect(response).toMatchObject({ status: 400, body: { error: { metadata } } })
      expectUntouched(api)
    }
  })

  it('takes a copy whose SHA-256 is not told for one of another file', async () => {
    const { copy } = api.objects
    api.objects.copy = async (...args) => ({ ...(await copy(...args)), sha256: undefined })
    expect(refusalOf(await promote({ 'File-Sha256': MEANT }))).toEqual([400, 'container_file_differs'])
    expectUntouched(api)
  })

  it('is 400 for a file that is copied in parts, before bytes are taken', async () => {
    api.objects.copiesWhole = (sizeBytes) => sizeBytes < CSV.length
    const take = vi.spyOn(api.ledger, 'take')
    expect(refusalOf(await promote({ 'File-Sha256': MEANT }))).toEqual([400, 'sha256_unavailable'])
    expect(take).not.toHaveBeenCalled()
    expect((await promote({})).status).toBe(200)
  })

  it('answers with the document of its key although the file has become too large for it', async () => {
    const headers = { 'File-Sha256': MEANT, 'Idempotency-Key': 'k' }
    const first = await promote(headers)
    api.objects.copiesWhole = () => false
    expect([first.status, idOf(await promote(headers))]).toEqual([200, idOf(first)])
  })

  it.each([{}, { 'Idempotency-Key': 'k' }])(
    'copies each version once while it waits, under ids of its own, %j',
    async (key) => {
      const copy = vi.spyOn(api.objects, 'copy')
      putAfter(5000, OTHER)
      const named = { ...key, 'File-Sha256': OTHERS, Prefer: 'wait=20' }
      expect([(await promote(named)).status, promotedBytes()]).toEqual([200, [OTHER.toString()]])
      const keys = copy.mock.calls.map(([{ objectKey }]) => objectKey)
      expect([keys.length, new Set(keys).size]).toEqual([2, 2])
      expect(api.stored.items().map(({ state }) => state)).toEqual(['ready'])
      expect((await promote({ 'File-Sha256': MEANT, Prefer: 'wait=2' })).status).toBe(400)
      expect(copy).toHaveBeenCalledTimes(3)
    },
  )
})

describe('POST …/promote with preconditions and an Idempotency-Key', () => {
  const KEY = { 'Idempotency-Key': 'k' }
  const outcome = (response: AnyResponse) =>
    response.status === 200 ? (response.headers['idempotency-replayed'] ?? 'new') : refusalOf(response)[1]

  it.each([
    ['gone', undefined],
    ['overwritten', OTHER],
  ])('replays the document of the bytes that are named, though the file is %s, without waiting', async (_, bytes) => {
    const named = { ...KEY, 'If-Match': await etagOf(), 'File-Bytes': '8' }
    const first = await promote(named)
    api.objects.sandbox.clear()
    if (bytes) api.putFile(PATH, bytes)
    const replays = [await promote(named), await promote({ ...named, Prefer: 'wait=20' })]
    expect(replays.map((replay) => [outcome(replay), idOf(replay)])).toEqual(Array(2).fill(['true', idOf(first)]))
    expect(time.pausesMs).toEqual([])
  })

  it('takes a document that does not know its SHA-256 for one of other bytes', async () => {
    await promote(KEY)
    const named = { ...KEY, 'File-Sha256': sha256Of(CSV) }
    expect(outcome(await promote(named))).toBe('true')
    await api.stored.change(
      DOCUMENTS_TABLE,
      () => true,
      (item) => delete item.sha256,
    )
    expect(outcome(await promote(named))).toBe('idempotency_key_reused')
  })
})
