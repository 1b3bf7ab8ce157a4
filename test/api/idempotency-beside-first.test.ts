import { describe, expect, it, vi } from 'vitest'
import type { ContainerId, FilePath } from '../../lib/ids.ts'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { expectOneDocument, idOf, KEY, promotionsOf, WORKSPACE, withKey } from '../support/api/idempotent-promotions.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH } from '../support/api/test-api.ts'
import { LEASE_MS, NOW_MS } from '../support/ports.ts'
import { newAttempt, newDocument } from '../support/stores/ledger-values.ts'

const FILE_KEY = `sandboxes/ws_1/${CONTAINER}/${PATH}`
/** Of an attempt; the marker goes last here. */
type Step = 'claim' | 'take' | 'reserve' | 'unmark' | 'record'

/**
 * Leaves what an attempt with the key, begun this long ago, leaves when its process dies: its object, perhaps its
 * document.
 */
async function leaveBehind(
  api: ReturnType<typeof createTestApi>,
  ageMs: number,
  steps: Step[] = ['claim', 'take', 'reserve', 'unmark'],
) {
  const documentId = documentIdOfKey(WORKSPACE, KEY)
  const one = newAttempt({ documentId, sizeBytes: 8, leaseExpiresAtMs: NOW_MS + LEASE_MS - ageMs })
  const { signal } = new AbortController()
  await api.reservations.claim(one, signal)
  if (steps.includes('take')) await api.ledger.take(one, signal)
  if (steps.includes('reserve')) await api.reservations.reserve(one, true, signal)
  if (steps.includes('unmark')) await api.ledger.unmark(one, signal)
  if (steps.includes('reserve')) api.objects.documents.set(one.objectKey, { bytes: CSV, contentType: 'text/csv' })
  const names = { filename: PATH as FilePath, containerId: CONTAINER as ContainerId }
  if (steps.includes('record')) await api.documents.record({ ...newDocument(one), ...names }, signal)
  return one
}

describe('POST …/promote with an Idempotency-Key, beside the first request with it', () => {
  it('is 503 while the first request may be running; Retry-After tells when it must be over', async () => {
    const api = createTestApi()
    await leaveBehind(api, 30_000)
    const response = await api.promote(withKey())
    expect([...refusalOf(response), response.headers['retry-after']]).toEqual([503, 'promotion_in_progress', '10'])
    expect(promotionsOf(api)).toHaveLength(1)
    expect(api.ledger.workspaces.get(WORKSPACE)).toMatchObject({ remainingBytes: 992 })
  })

  it.each<[string, (api: ReturnType<typeof createTestApi>) => void]>([
    ['the container has gone', (api) => api.objects.sandbox.clear()],
    ['the file alone has gone', (api) => api.putFile('other', CSV) && api.objects.sandbox.delete(FILE_KEY)],
    ['the file has grown too large', (api) => api.putFile(PATH, Buffer.alloc(501))],
    [
      'the quota has no room for two',
      (api) => Object.assign(api.ledger.workspaces.get(WORKSPACE) ?? {}, { remainingBytes: 0 }),
    ],
  ])('is 503 and no final refusal while the first one runs and %s meanwhile', async (_, change) => {
    const api = createTestApi()
    await leaveBehind(api, 1000)
    change(api)
    expect(refusalOf(await api.promote(withKey()))).toEqual([503, 'promotion_in_progress'])
  })

  it.each<[string, number, Step[]]>([
    ['40 s after it began, when nothing lives so long', 40_000, ['claim', 'take', 'reserve', 'unmark']],
    ['as soon, whatever of its marker is left', 40_000, ['claim', 'take', 'reserve']],
    ['once its lease is over, too', LEASE_MS, ['claim', 'take', 'reserve', 'unmark']],
    ['that had only begun', 40_000, ['claim']],
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

  it('undoes its own work and replays, with the twin done after the first look', async () => {
    const api = createTestApi()
    const first = await api.promote(withKey())
    vi.spyOn(api.documents, 'findEvenDeleted').mockResolvedValueOnce(undefined)
    const second = await api.promote(withKey())
    expect([second.status, idOf(second)]).toEqual([200, idOf(first)])
    expect(second.headers['idempotency-replayed']).toBe('true')
    expectOneDocument(api)
  })
})
