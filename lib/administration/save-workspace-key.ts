import type { ApiKeyGrant } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { type KeyDependencies, type NewKey, saveKey } from './save-key.ts'
import { limitKeys, type WorkspaceDependencies } from './save-workspace.ts'

export type WorkspaceKeyGrant = Required<
  Omit<Extract<ApiKeyGrant, { workspaceId: WorkspaceId }>, 'workspaceRequestsPerMinute'>
>

/**
 * As {@link saveKey}, for a workspace that is there, and stays: one that is deleted meanwhile keeps no key.
 * @throws ServiceError workspace_not_found, workspace_busy
 */
export async function saveWorkspaceKey(
  { grant, ...wanted }: { grant: WorkspaceKeyGrant; name?: string | undefined; graceMs: number },
  deps: KeyDependencies & Pick<WorkspaceDependencies, 'ledger'>,
  signal: AbortSignal,
): Promise<NewKey> {
  const { workspaceId } = grant
  const before = await deps.ledger.read(workspaceId, signal)
  if (before === undefined) throw new ServiceError('workspace_not_found')
  const workspaceRequestsPerMinute = before.requestsPerMinute
  const saved = await saveKey({ ...wanted, grant: { ...grant, workspaceRequestsPerMinute } }, deps, signal)
  const after = await deps.ledger.read(workspaceId, signal)
  if (after === undefined) {
    await deps.apiKeys.remove(saved.key.keyId, signal, saved.key)
    throw new ServiceError('workspace_not_found')
  }
  if (after.requestsPerMinute !== workspaceRequestsPerMinute) await limitKeys(workspaceId, deps, signal)
  return saved
}
