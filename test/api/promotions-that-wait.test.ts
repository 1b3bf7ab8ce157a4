import { describe, expect, it, vi } from 'vitest'
import { expectUntouched, refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH, UNLIMITED, useTestApi } from '../support/api/test-api.ts'
import { contentOf } from '../support/aws/memory-s3.ts'
import { skipWaits } from '../support/virtual-waits.ts'

const time = skipWaits()
/** After the first, when the file is looked at again. */
const LOOKS_MS = [500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 20_000]
const OTHER = Buffer.from('a,b\n1,3\n')
const LARGER = Buffer.from('a,b\n1,2\n3,4\n')

const api = useTestApi({ rateLimiter: UNLIMITED })
const gone = () => api.objects.sandbox.delete(`sandboxes/ws_1/${CONTAINER}/${PATH}`)
const wait = (seconds: number, more = {}) => api.promote({ headers: { Prefer: `wait=${seconds}`, ...more } })
const promotedBytes = () => [...api.objects.documents.values()].map((object) => contentOf(object).toString())
const waited = () => time.pausesMs.reduce((sum, ms) => sum + ms, 0)
/** Puts the file there once so much has been waited for. */
const putAfter = (ms: number, bytes: Buffer) => {
  time.beforePause = () => {
    if (waited() <= ms && ms <= waited() + 4000) api.putFile(PATH, bytes, 'text/csv')
  }
}

describe('POST …/promote with Prefer: wait', () => {
  it.each([0, 300, 10_000, 19_600])('finds a file that comes after %i ms, by eight looks at most', async (ms) => {
    gone()
    putAfter(ms, CSV)
    const lookUp = vi.spyOn(api.objects, 'findContainerFile')
    const { status, headers } = await wait(20)
    expect([status, headers['preference-applied']]).toEqual([200, 'wait=20'])
    expect(waited() - ms).toBeLessThanOrEqual(Math.max(500, ms, 4000))
    expect(lookUp.mock.calls.length).toBe(1 + LOOKS_MS.findIndex((at) => at > ms) + 1)
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

  it('waits 20 seconds at most, and says so, whoever asks for more; not at all where none or 0 is asked for', async () => {
    expect((await api.promote()).headers).not.toHaveProperty('preference-applied')
    expect((await wait(0)).headers).not.toHaveProperty('preference-applied')
    gone()
    api.putFile('other.txt', CSV)
    expect((await wait(60)).headers['preference-applied']).toBe('wait=20')
    expect(time.pausesMs).toEqual([500, 1000, 2000, 4000, 4000, 4000, 4000, 500])
  })

  it('waits until a file that is overwritten is the one that is meant', async () => {
    const { headers } = await api.call('retrieve_container_file')
    api.putFile(PATH, OTHER, 'text/csv')
    putAfter(3000, CSV)
    expect((await wait(20, { 'If-Match': `"x", ${headers.etag}` })).status).toBe(200)
    putAfter(waited() + 2000, LARGER)
    expect((await wait(20, { 'File-Bytes': String(LARGER.length) })).status).toBe(200)
    expect(promotedBytes()).toEqual([CSV.toString(), LARGER.toString()])
  })

  it('gives up when the time is over, having written nothing', async () => {
    gone()
    api.putFile('other.txt', CSV)
    const missing = await wait(3)
    expect(refusalOf(missing)).toEqual([404, 'container_file_not_found'])
    expect(missing.headers['preference-applied']).toBe('wait=3')
    expect(time.pausesMs).toEqual([500, 1000, 1500])
    api.putFile(PATH, OTHER, 'text/csv')
    expect(refusalOf(await wait(3, { 'If-Match': '"x"' }))).toEqual([400, 'container_file_differs'])
    expectUntouched(api)
  })

  it('promotes once: a file that becomes another one while it is copied is 503, as without it', async () => {
    const { copy } = api.objects
    vi.spyOn(api.objects, 'copy').mockImplementationOnce((...args) => {
      api.putFile(PATH, LARGER, 'text/csv')
      return copy(...args)
    })
    expect(refusalOf(await wait(20))).toEqual([503, 'container_file_changed'])
    expectUntouched(api)
  })

  it('gets the document of an earlier request with its key before it pauses, although the file is gone', async () => {
    const keyed = { 'Idempotency-Key': 'used' }
    const { body } = await wait(20, keyed)
    gone()
    const again = await wait(20, keyed)
    expect([again.headers['idempotency-replayed'], again.body, time.pausesMs]).toEqual(['true', body, []])
  })

  it.each([
    [10_000, 2100, 2500],
    [7000, 0, 0],
  ])('waits for less where %i ms are left, as the request needs time to promote', async (remainingMs, least, most) => {
    gone()
    expect((await api.promote({ headers: { Prefer: 'wait=20' }, remainingMs })).status).toBe(404)
    expect(waited()).toBeGreaterThanOrEqual(least)
    expect(waited()).toBeLessThanOrEqual(most)
    if (most === 0) expect(time.pausesMs).toEqual([])
  })

  it('waits for no file that may not be promoted, and not for room', async () => {
    const put = (bytes: number, type?: string) => api.putFile(PATH, Buffer.alloc(bytes), type)
    put(501)
    expect(refusalOf(await wait(20))).toEqual([413, 'file_too_large'])
    put(0, 'application/x-directory')
    expect(refusalOf(await wait(20))).toEqual([404, 'container_file_not_regular'])
    put(450, 'text/csv')
    expect([(await wait(20)).status, (await wait(20)).status]).toEqual([200, 200])
    expect(refusalOf(await wait(20))).toEqual([403, 'storage_quota_exceeded'])
    expect([time.pausesMs, api.objects.documents.size]).toEqual([[], 2])
  })

  it('counts each look: where the limit refuses one, tells what was found last, and when to come back', async () => {
    Object.assign(api, createTestApi())
    gone()
    api.putFile('other.txt', CSV)
    const answer = await wait(20)
    expect(refusalOf(answer)).toEqual([404, 'container_file_not_found'])
    expect(answer.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"default";r=0;t=5' })
    // The clock of the limiter stands still: the request has a burst of five.
    expect(time.pausesMs).toEqual([500, 1000, 2000, 4000, 4000])
  })

  it('passes the rate limit before it looks again', async () => {
    const { promise, resolve: pass } = Promise.withResolvers<object>()
    Object.assign(api, createTestApi({ rateLimiter: { ...UNLIMITED, take: () => promise as Promise<never> } }))
    gone()
    const waiting = wait(20)
    await new Promise((resolve) => setImmediate(resolve))
    expect(time.pausesMs).toEqual([])
    putAfter(100, CSV)
    pass({ policy: UNLIMITED.policy, isDisabled: false, isAllowed: true, remaining: 1, resetMs: 0, retryAfterMs: 0 })
    expect((await waiting).status).toBe(200)
  })
})
