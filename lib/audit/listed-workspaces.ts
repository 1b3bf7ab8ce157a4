import { createHash } from 'node:crypto'
import type { WorkspaceId } from '../ids.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import type { AuditContext } from './audit-context.ts'
import type { AuditShard } from './audit-shard.ts'

/** A workspace that a shard comes to. */
export interface ListedWorkspace {
  workspaceId: WorkspaceId
  /** Whether an earlier phase has audited it. */
  isAudited: boolean
}

type ShardPosition = Pick<AuditShard, 'phase' | 'after' | 'shard' | 'totalShards'>
type Sources = Pick<AuditContext, 'deps' | 'signal'>

/** The workspaces of a shard in its phase, from where it stopped. */
export async function* listedWorkspaces(position: ShardPosition, sources: Sources): AsyncGenerator<ListedWorkspace> {
  for await (const workspaceId of workspacesOf(position, sources)) {
    yield { workspaceId, isAudited: await isOfEarlierPhase(workspaceId, position, sources) }
  }
}

function workspacesOf(position: ShardPosition, { deps, signal }: Sources): AsyncIterable<WorkspaceId> {
  const { phase, shard, totalShards, after } = position
  if (phase === 'objects') return workspacesInBucket(position, { deps, signal })
  if (phase === 'ledgers') return deps.workspaces.list(signal, { shard, totalShards, after })
  return deps.documents.listWorkspaces({ shard, totalShards, after }, signal)
}

/** S3 lists in one sequence only: each shard reads all of it, a thousand workspaces per call, and picks its own. */
async function* workspacesInBucket(position: ShardPosition, { deps, signal }: Sources): AsyncGenerator<WorkspaceId> {
  const { objects, objectKeys } = deps
  const afterPrefix = position.after && objectKeys.workspacePrefix(position.after)
  for await (const prefix of objects.listPrefixes(objectKeys.workspacesPrefix, signal, afterPrefix)) {
    const workspaceId = objectKeys.workspaceIdOf(prefix)
    if (workspaceId !== undefined && isOwn(workspaceId, position)) yield workspaceId
  }
}

/** Whether the workspace is this shard's own. Spreads workspaces evenly, however similar their ids. */
function isOwn(workspaceId: WorkspaceId, { shard, totalShards }: ShardPosition): boolean {
  return createHash('sha256').update(workspaceId).digest().readUInt32BE() % totalShards === shard
}

async function isOfEarlierPhase(
  id: WorkspaceId,
  { phase }: ShardPosition,
  { deps, signal }: Sources,
): Promise<boolean> {
  if (phase === 'ledgers') return false
  try {
    if ((await deps.ledger.read(id, signal)) !== undefined) return true
  } catch (error) {
    if (error instanceof UnreadableItemError) return true
    throw error
  }
  return phase === 'objects' && deps.documents.hasWorkspace(id, signal)
}
