import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import type { WorkspaceDependencies } from './save-workspace.ts'

/**
 * Deletes an empty workspace and its keys, these first, so that nothing new comes in. May be repeated.
 * @throws ServiceError workspace_not_found, workspace_not_empty, workspace_erased, workspace_busy
 */
export async function deleteWorkspace(workspaceId: WorkspaceId, deps: WorkspaceDependencies, signal: AbortSignal) {
  const { ledger, workspaces, apiKeys, now } = deps
  const beganAtMs = now()
  const found = await ledger.read(workspaceId, signal)
  if (found?.erasure) throw new ServiceError('workspace_erased')
  const isUnderWay = found?.holds.some(({ leaseEndsAtMs }) => leaseEndsAtMs > now())
  if (isUnderWay) throw new ServiceError('workspace_busy', { detail: UNDER_WAY })
  if (found && found.documents > 0) {
    const metadata = { documents: found.documents, used_bytes: found.usedBytes }
    throw new ServiceError('workspace_not_empty', { metadata })
  }
  await apiKeys.removeAll(workspaceId, beganAtMs, signal)
  if (found === undefined) throw new ServiceError('workspace_not_found')
  if (!(await workspaces.remove(workspaceId, found.version, signal)))
    throw new ServiceError('workspace_busy', { detail: `Its keys are deleted. ${UNDER_WAY}` })
  // A workspace made again begins with limits of its own, whoever makes it.
  await deps.rateLimiter.setLimits(workspaceId, { version: found.version + 1 }, signal)
  // Keys that were made while it was deleted. Later keys stay: they are of a workspace made since with the same id.
  const seenAtMs = now()
  if ((await ledger.read(workspaceId, signal)) === undefined) await apiKeys.removeAll(workspaceId, seenAtMs, signal)
}

const UNDER_WAY = 'A promotion is still under way in this workspace.'
