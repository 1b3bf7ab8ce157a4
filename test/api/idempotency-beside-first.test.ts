import { describe, expect, it } from 'vitest'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { KEY, WORKSPACE, withKey } from '../support/api/idempotent-promotions.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'
import { LEASE_MS, NOW_MS } from '../support/ports.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'

const FILE_KEY = `sandboxes/ws_1/${CONTAINER}/${PATH}`

/**
 * Leaves what an attempt with the key, begun this long ago, leaves when its process dies before the record.
 */
async function leaveBehind(api: ReturnType<typeof createTestApi>, ageMs: number) {
  const documentId = documentIdOfKey(WORKSPACE, KEY)
  const one = newAttempt({ documentId, sizeBytes: 8, leaseEndsAtMs: NOW_MS + LEASE_MS - ageMs })
  const { signal } = new AbortController()
  await api.documents.begin(pendingOf(one), undefined, signal)
  api.objects.documents.set(one.objectKey, storedObject({ bytes: CSV, contentType: 'text/csv' }))
  await api.ledger.take(one, signal, 0)
  return one
}

describe('POST …/promote with an Idempotency-Key, beside the first request with it', () => {
  it('is 503 while the first request may be running; Retry-After tells when it must be over', async () => {
    const api = createTestApi()
    await leaveBehind(api, 30_000)
    const response = await api.promote(withKey())
    expect([...refusalOf(response), response.headers['retry-after']]).toEqual([503, 'promotion_in_progress', '10'])
    expect(api.stored.items()).toMatchObject([{ state: 'pending' }])
    expect(api.stored.ledgerOf('ws_1')).toMatchObject({ usedBytes: 8 })
  })

  it.each<[string, (api: ReturnType<typeof createTestApi>) => unknown]>([
    ['the container has gone', (api) => api.objects.sandbox.clear()],
    ['the file alone has gone', (api) => api.putFile('other', CSV) && api.objects.sandbox.delete(FILE_KEY)],
    ['the file has grown too large', (api) => api.putFile(PATH, Buffer.alloc(501))],
    ['the quota has no room for two', (api) => api.stored.setUsage(WORKSPACE, { quotaBytes: 8, usedBytes: 8 })],
  ])('is 503 and no final refusal while the first one runs and %s meanwhile', async (_, change) => {
    const api = createTestApi()
    await leaveBehind(api, 1000)
    await change(api)
    expect(refusalOf(await api.promote(withKey()))).toEqual([503, 'promotion_in_progress'])
  })

  it('takes the place of a first request 40 s after it began, when nothing lives so long, and clears up after it', async () => {
    const api = createTestApi()
    const dead = await leaveBehind(api, 40_000)
    const response = await api.promote(withKey())
    expect(response.status).toBe(200)
    expect(response.headers).not.toHaveProperty('idempotency-replayed')
    expect(api.objects.documents.has(dead.objectKey)).toBe(false)
    expect(api.stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: 8, takings: [] })
    // Its copy may arrive late.
    expect(api.stored.items()).toMatchObject([{ state: 'ready' }, { state: 'stray', attemptId: dead.attemptId }])
  })
})
