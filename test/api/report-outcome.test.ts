import { describe, expect, it, vi } from 'vitest'
import { keyIdIn } from '../../lib/auth/api-token.ts'
import { ServiceError } from '../../lib/errors.ts'
import { idOf } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, createTestApi, PATH, useTestApi, withKey } from '../support/api/test-api.ts'

const api = useTestApi()
const MS = expect.any(Number)
const SUCCESS_STEPS = { authenticate: MS, look_up: MS, begin: MS, copy: MS, hold: MS, record: MS, capture: MS }
const TIMED = ['Promotion', 'Authenticate', 'LookUp', 'Begin', 'Copy', 'Hold', 'Record', 'Capture']
const SUCCESS_TIMES = Object.fromEntries(TIMED.map((step) => [`${step}Time`, MS]))

describe('the log line and the metrics of a request', () => {
  it('tell of a promotion: request, key, workspace, container, document, attempt, bytes, and the time of each step', async () => {
    const document_id = idOf(await api.promote())
    expect(api.logged).toEqual([
      {
        level: 'info',
        message: 'request answered',
        operation: 'promote_container_file',
        request_id: expect.any(String),
        key_id: keyIdIn(api.token),
        workspace_id: 'ws_1',
        container_id: CONTAINER,
        document_id,
        attempt_id: expect.any(String),
        size_bytes: CSV.length,
        status: 200,
        duration_ms: MS,
        steps_ms: SUCCESS_STEPS,
      },
    ])
    expect(api.published).toEqual([{ Promotions: 1, PromotedBytes: CSV.length, ...SUCCESS_TIMES }])
  })

  it('tell of a replay, which counts apart and without bytes', async () => {
    const document_id = idOf(await api.promote(withKey()))
    await api.promote(withKey())
    expect(api.logged.at(-1)).toMatchObject({ status: 200, document_id, is_replayed: true })
    expect(api.published.at(-1)).toMatchObject({ Replays: 1 })
    expect(api.published.at(-1)).not.toHaveProperty('Promotions')
    expect(api.published.at(-1)).not.toHaveProperty('PromotedBytes')
  })

  it('tell the reason of a refusal, with whatever is known by then', async () => {
    await api.promote({ path: 'missing.txt' })
    await api.promote({ token: 'wrong' })
    const known = { key_id: keyIdIn(api.token), container_id: CONTAINER, steps_ms: { authenticate: MS, look_up: MS } }
    expect(api.logged).toEqual([
      expect.objectContaining({ level: 'info', status: 404, reason: 'container_file_not_found', ...known }),
      expect.objectContaining({ level: 'info', status: 401, reason: 'invalid_api_key' }),
    ])
    expect(api.logged[1]).not.toHaveProperty('key_id')
    const reasons = ['container_file_not_found', 'invalid_api_key']
    expect(api.published).toEqual(reasons.map((reason) => ({ Refusals: 1, reason })))
  })

  it('tell the attempt and the cause of a failure, and how long the undo took', async () => {
    const cause = new Error('S3 is on fire')
    vi.spyOn(api.objects, 'copy').mockRejectedValue(new ServiceError('service_unavailable', { cause }))
    await api.promote()
    const failure = { level: 'error', status: 503, reason: 'service_unavailable', error: cause }
    const steps_ms = { authenticate: MS, look_up: MS, begin: MS, copy: MS, undo: MS }
    expect(api.logged).toEqual([expect.objectContaining({ ...failure, document_id: expect.any(String), steps_ms })])
    expect(api.published).toEqual([{ Failures: 1, reason: 'service_unavailable' }, { UndoTime: MS }])
  })

  it('have neither a token nor a content in it', async () => {
    await api.promote()
    await api.promote({ token: `${api.token}x` })
    expect(api.logged).toHaveLength(2)
    expect(JSON.stringify(api.logged)).not.toContain(api.token)
    expect(JSON.stringify(api.logged)).not.toContain(CSV.toString())
    expect(JSON.stringify(api.logged)).not.toContain('Bearer')
  })

  it.each([
    [899, false],
    [900, true],
  ])('say with %i of 1,000 bytes used whether the quota is nearly full: %s', async (usedBytes, isNearlyFull) => {
    const api = createTestApi({ maxFileBytes: 1000 })
    api.putFile(PATH, Buffer.alloc(usedBytes))
    expect((await api.promote()).status).toBe(200)
    expect(api.stored.ledgerOf('ws_1')?.usedBytes).toBe(usedBytes)
    expect('QuotaNearlyFull' in (api.published[0] ?? {})).toBe(isNearlyFull)
  })
})
