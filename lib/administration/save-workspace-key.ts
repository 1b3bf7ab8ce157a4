import type { ApiKeyGrant } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { type KeyDependencies, type NewKey, saveKey } from './save-key.ts'
import type { WorkspaceDependencies } from './save-workspace.ts'

export type WorkspaceKeyGrant = Required<Extract<ApiKeyGrant, { workspaceId: WorkspaceId }>>

/**
 * As {@link saveKey}, for a workspace that is there, and stays: one that is deleted or closed meanwhile keeps no key.
 * @throws ServiceError workspace_not_found, workspace_erased, workspace_busy
 */
export async function saveWorkspaceKey(
  wanted: { grant: WorkspaceKeyGrant; name?: string | undefined; graceMs: number },
  deps: KeyDependencies & Pick<WorkspaceDependencies, 'ledger'>,
  signal: AbortSignal,
): Promise<NewKey> {
  const findRefusal = async () => {
    const ledger = await deps.ledger.read(wanted.grant.workspaceId, signal)
    if (ledger === undefined) return new ServiceError('workspace_not_found')
    return ledger.erasure && new ServiceError('workspace_erased')
  }
  const refusal = await findRefusal()
  if (refusal) throw refusal
  const saved = await saveKey(wanted, deps, signal)
  const refusedSince = await findRefusal()
  if (refusedSince === undefined) return saved
  await deps.apiKeys.remove(saved.key.keyId, signal, saved.key)
  throw refusedSince
}
