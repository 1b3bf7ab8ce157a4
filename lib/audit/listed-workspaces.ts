import { createHash } from 'node:crypto'
import type { WorkspaceId } from '../ids.ts'
import { ifUnreadable } from '../ledger/ports/unreadable-item.ts'
import type { AuditContext } from './audit-context.ts'
import type { AuditShard } from './audit-shard.ts'

type Sources = Pick<AuditContext, 'deps' | 'signal'>

/** The workspaces of a shard in its phase, from where it stopped; also those that an earlier phase has audited. */
export function listedWorkspaces(position: AuditShard, { deps, signal }: Sources): AsyncIterable<WorkspaceId> {
  if (position.phase === 'objects') return workspacesInBucket(position, { deps, signal })
  if (position.phase === 'ledgers') return deps.workspaces.list(signal, position)
  return deps.documents.listWorkspaces(position, signal)
}

/** S3 lists in one sequence only: each shard reads all of it, a thousand workspaces per call, and picks its own. */
async function* workspacesInBucket(position: AuditShard, { deps, signal }: Sources): AsyncGenerator<WorkspaceId> {
  const { objects, objectKeys } = deps
  const afterPrefix = position.after && objectKeys.workspacePrefix(position.after)
  for await (const prefix of objects.listPrefixes(objectKeys.workspacesPrefix, signal, afterPrefix)) {
    const workspaceId = objectKeys.workspaceIdOf(prefix)
    if (workspaceId !== undefined && isOwn(workspaceId, position)) yield workspaceId
  }
}

/** Whether the workspace is this shard's own. Spreads workspaces evenly, however similar their ids. */
function isOwn(workspaceId: WorkspaceId, { shard, totalShards }: AuditShard): boolean {
  return createHash('sha256').update(workspaceId).digest().readUInt32BE() % totalShards === shard
}

/** Whether an earlier phase has audited it. */
export async function isOfEarlierPhase(id: WorkspaceId, { phase }: AuditShard, { deps, signal }: Sources) {
  if (phase === 'ledgers') return false
  const ledger = await deps.ledger.read(id, signal).catch(ifUnreadable('unreadable'))
  if (ledger !== undefined) return true
  return phase === 'objects' && deps.documents.hasWorkspace(id, signal)
}
