import { describe, expect, it } from 'vitest'
import { keyIdIn } from '../../lib/auth/api-token.ts'
import { ONLY_IF_LISTED, PERMISSIONS } from '../../lib/auth/caller.ts'
import { ServiceError } from '../../lib/errors.ts'
import { CSV, useTestApi } from '../support/api/test-api.ts'
import { WORKSPACE } from '../support/ports.ts'

const QUOTA_BYTES = 1000

const api = useTestApi({ defaultQuotaBytes: QUOTA_BYTES })
const show = (token: string) => api.call('retrieve_key', { token })

const ANYWAY = PERMISSIONS.filter((each) => !ONLY_IF_LISTED.includes(each))

describe('GET /key', () => {
  it('shows a standard key: what it may do, its end and its limit, the usage of its workspace, and its expiries; no secret', async () => {
    const settings = { quotaBytes: QUOTA_BYTES, expireAfterSeconds: 3600, expireAtMostSeconds: 7200 }
    await api.workspaces.create(WORKSPACE, settings, AbortSignal.timeout(1000))
    await api.promote()
    const expires_at = '2027-02-19T09:38:35.556Z'
    const limits = { expiresAtMs: Date.parse(expires_at), requestsPerMinute: 12 }
    const token = api.apiKeys.add({ permissions: ['files:read', 'unknown'], ...limits })
    const { status, body } = await show(token)
    expect(status).toBe(200)
    expect(body).toEqual({
      key_id: keyIdIn(token),
      workspace_id: 'ws_1',
      kind: 'standard',
      permissions: ['files:read'],
      user_id: 'user_1',
      expires_at,
      requests_per_minute: 12,
      quota_bytes: QUOTA_BYTES,
      used_bytes: CSV.length,
      remaining_bytes: QUOTA_BYTES - CSV.length,
      documents: 1,
      expire_after_seconds: 3600,
      expire_at_most_seconds: 7200,
    })
  })

  it('shows a management key with all permissions but what has to be listed, and the default quota where nothing was promoted yet', async () => {
    const token = api.apiKeys.add({ kind: 'management', permissions: [], workspaceId: 'ws_new' })
    const usage = { quota_bytes: QUOTA_BYTES, used_bytes: 0, remaining_bytes: QUOTA_BYTES, documents: 0 }
    const retention = { expire_after_seconds: null, expire_at_most_seconds: null }
    const key = { workspace_id: 'ws_new', kind: 'management', permissions: ANYWAY, expires_at: null }
    expect((await show(token)).body).toMatchObject({ ...key, requests_per_minute: 60, ...usage, ...retention })
    expect(api.stored.ledgers()).toEqual([])
  })

  it('shows a platform key, without a workspace', async () => {
    const token = api.apiKeys.add({ kind: 'platform', permissions: [] })
    const key = { key_id: keyIdIn(token), kind: 'platform', workspace_id: null, permissions: [], user_id: 'user_1' }
    expect((await show(token)).body).toEqual({ ...key, expires_at: null, requests_per_minute: 6000 })
  })

  it('is 503 without the ledger', async () => {
    api.ledger.read = () => Promise.reject(new ServiceError('service_unavailable'))
    expect((await show(api.apiKeys.add())).status).toBe(503)
  })
})
