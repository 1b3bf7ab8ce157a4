import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import type { WorkspaceDependencies } from './save-workspace.ts'

/**
 * Deletes an empty workspace and its keys, these first, so that nothing new comes in. May be repeated.
 * @throws ServiceError workspace_not_found, workspace_not_empty; workspace_busy: a request under way has changed it
 */
export async function deleteWorkspace(
  workspaceId: WorkspaceId,
  { ledger, workspaces, apiKeys }: WorkspaceDependencies,
  signal: AbortSignal,
): Promise<void> {
  const removeKeys = async () => {
    for await (const { keyId } of apiKeys.list({ workspaceId }, signal)) await apiKeys.remove(keyId, signal)
  }
  const found = await ledger.read(workspaceId, signal)
  if (found && found.documents > 0) {
    const metadata = { documents: found.documents, used_bytes: found.usedBytes }
    throw new ServiceError('workspace_not_empty', { metadata })
  }
  await removeKeys()
  if (found === undefined) throw new ServiceError('workspace_not_found')
  const { version } = (await ledger.read(workspaceId, signal)) ?? found
  if (!(await workspaces.remove(workspaceId, version, signal))) {
    const detail = 'Its keys are deleted. A request that had begun before is still under way in it: repeat this.'
    throw new ServiceError('workspace_busy', { detail })
  }
  // A key that was made meanwhile; whoever makes one later finds no workspace.
  await removeKeys()
}
