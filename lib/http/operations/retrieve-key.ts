import { permissionsOf } from '../../auth/authenticate.ts'
import type { AnyCaller } from '../../auth/caller.ts'
import type { Retention } from '../../ledger/expiry.ts'
import type { Ledger, WorkspaceLedger } from '../../ledger/ports/ledger.ts'
import type { Operation } from '../api-handler.ts'

export interface RetrieveKeyDependencies {
  ledger: Pick<Ledger, 'read'>
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
}

/** GET /v1/key: whom the caller's own key stands for, what it may do, and what holds in its workspace. */
export function retrieveKeyOperation({ ledger, defaultQuotaBytes }: RetrieveKeyDependencies): Operation<AnyCaller> {
  return {
    async handle({ caller, policy, state: { deadline } }) {
      const { workspaceId, keyId, kind, userId, expiresAtMs } = caller
      const body = {
        key_id: keyId,
        workspace_id: workspaceId ?? null,
        kind,
        permissions: permissionsOf(caller),
        user_id: userId ?? null,
        expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
        requests_per_minute: policy.requestsPerMinute,
      }
      if (workspaceId === undefined) return { statusCode: 200, body: JSON.stringify(body) }
      const empty = { quotaBytes: defaultQuotaBytes, usedBytes: 0, documents: 0 }
      const found = (await ledger.read(workspaceId, deadline.signal)) ?? empty
      return { statusCode: 200, body: JSON.stringify({ ...body, ...describeStorage(found) }) }
    },
  }
}

type Storage = Pick<WorkspaceLedger, 'quotaBytes' | 'usedBytes' | 'documents'> & Retention

/** What a workspace holds, and may. */
export function describeStorage({ quotaBytes, usedBytes, documents, ...retention }: Storage) {
  return {
    quota_bytes: quotaBytes,
    used_bytes: usedBytes,
    remaining_bytes: quotaBytes - usedBytes,
    documents,
    expire_after_seconds: retention.expireAfterSeconds ?? null,
    expire_at_most_seconds: retention.expireAtMostSeconds ?? null,
  }
}
