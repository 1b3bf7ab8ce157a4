import type { ApiKeyGrant } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { type KeyDependencies, type NewKey, saveKey } from './save-key.ts'
import type { WorkspaceDependencies } from './save-workspace.ts'

export type WorkspaceKeyGrant = Required<Extract<ApiKeyGrant, { workspaceId: WorkspaceId }>>

/**
 * As {@link saveKey}, for a workspace that is there, and stays: one that is deleted meanwhile keeps no key.
 * @throws ServiceError workspace_not_found, workspace_busy
 */
export async function saveWorkspaceKey(
  wanted: { grant: WorkspaceKeyGrant; name?: string | undefined; graceMs: number },
  deps: KeyDependencies & Pick<WorkspaceDependencies, 'ledger'>,
  signal: AbortSignal,
): Promise<NewKey> {
  const isThere = async () => (await deps.ledger.read(wanted.grant.workspaceId, signal)) !== undefined
  if (!(await isThere())) throw new ServiceError('workspace_not_found')
  const saved = await saveKey(wanted, deps, signal)
  if (await isThere()) return saved
  await deps.apiKeys.remove(saved.key.keyId, signal, saved.key)
  throw new ServiceError('workspace_not_found')
}
