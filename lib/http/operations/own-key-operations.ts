import { permissionsOf } from '../../auth/authenticate.ts'
import type { AnyCaller } from '../../auth/caller.ts'
import type { Ledger } from '../../ledger/ports/ledger.ts'
import { answer } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { describeStorage } from '../shapes.ts'

export interface RetrieveKeyDependencies {
  ledger: Pick<Ledger, 'read'>
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
}

/** Whom the caller's own key stands for, what it may do, and what holds in its workspace. */
export function ownKeyOperations({ ledger, defaultQuotaBytes }: RetrieveKeyDependencies) {
  return {
    async retrieve_key({ caller, policy, state: { deadline } }) {
      const { workspaceId, keyId, kind, userId, expiresAtMs } = caller
      const key = {
        key_id: keyId,
        workspace_id: workspaceId ?? null,
        kind,
        permissions: permissionsOf(caller),
        user_id: userId ?? null,
        expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
        requests_per_minute: policy.requestsPerMinute,
      }
      if (workspaceId === undefined) return answer(key)
      const empty = { quotaBytes: defaultQuotaBytes, usedBytes: 0, documents: 0 }
      const found = (await ledger.read(workspaceId, deadline.signal)) ?? empty
      return answer({ ...key, ...describeStorage(found) })
    },
  } satisfies Operations<AnyCaller>
}
