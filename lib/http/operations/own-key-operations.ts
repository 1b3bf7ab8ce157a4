import { type AnyCaller, permissionsOf } from '../../auth/caller.ts'
import type { RateLimiter } from '../../auth/rate-limit.ts'
import { PLATFORM_REQUESTS_PER_MINUTE } from '../../config.ts'
import type { Ledger, WorkspaceLedger } from '../../ledger/ports/ledger.ts'
import { answer } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { describeStorage } from '../shapes.ts'

export interface RetrieveKeyDependencies {
  ledger: Pick<Ledger, 'read'>
  defaultQuotaBytes: number
  rateLimiter: Pick<RateLimiter, 'policy'>
}

/** Whom the caller's own key stands for, what it may do, and what holds in its workspace. */
export function ownKeyOperations({ ledger, defaultQuotaBytes, rateLimiter }: RetrieveKeyDependencies) {
  return {
    async retrieve_key({ caller, state: { deadline } }) {
      const { workspaceId, keyId, kind, userId, expiresAtMs } = caller
      const key = {
        key_id: keyId,
        workspace_id: workspaceId ?? null,
        kind,
        permissions: permissionsOf(caller),
        user_id: userId ?? null,
        expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
        requests_per_minute: caller.requestsPerMinute ?? PLATFORM_REQUESTS_PER_MINUTE,
      }
      if (workspaceId === undefined) return answer(key)
      const byDefault = { quotaBytes: defaultQuotaBytes, usedBytes: 0, documents: 0 }
      const found: Pick<WorkspaceLedger, keyof typeof byDefault | 'requestsPerMinute'> =
        (await ledger.read(workspaceId, deadline.signal)) ?? byDefault
      const perMinute = caller.requestsPerMinute ?? found.requestsPerMinute ?? rateLimiter.policy.requestsPerMinute
      return answer({ ...key, requests_per_minute: perMinute, ...describeStorage(found) })
    },
  } satisfies Operations<AnyCaller>
}
