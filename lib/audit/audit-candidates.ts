import { createHash } from 'node:crypto'
import type { WorkspaceId } from '../ids.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import type { AuditContext } from './audit-context.ts'
import type { AuditShard } from './audit-shard.ts'
import type { UnfinishedUpload } from './ports/object-maintenance.ts'

/** What a shard audits next. */
export interface Candidate {
  /** Once the candidate is audited, so is everything up to this id: see AuditShard.after. */
  id: string
  workspaceId: WorkspaceId
  /** The unfinished uploads of one key; undefined: the candidate is the workspace itself. */
  uploads?: UnfinishedUpload[]
  /** Whether an earlier phase has audited it. */
  isAudited: boolean
}

type ShardPosition = Pick<AuditShard, 'phase' | 'after' | 'shard' | 'totalShards'>
type Sources = Pick<AuditContext, 'deps' | 'signal'>

/** The candidates of a shard in its phase, from where it stopped. */
export async function* candidatesOf(position: ShardPosition, sources: Sources): AsyncGenerator<Candidate> {
  if (position.phase === 'uploads') return yield* uploadsByKey(position, sources)
  for await (const workspaceId of workspacesOf(position, sources)) {
    const isAudited = await isOfEarlierPhase(workspaceId, position, sources)
    yield { id: workspaceId, workspaceId, isAudited }
  }
}

function workspacesOf(position: ShardPosition, { deps, signal }: Sources): AsyncIterable<WorkspaceId> {
  const { phase, shard, totalShards } = position
  const after = position.after as WorkspaceId | undefined
  if (phase === 'objects') return workspacesInBucket(position, { deps, signal })
  if (phase === 'ledgers') return deps.workspaces.list(signal, { shard, totalShards, after })
  return deps.documents.listWorkspaces({ shard, totalShards, after }, signal)
}

/** S3 lists in one sequence only: each shard reads all of it, a thousand workspaces per call, and picks its own. */
async function* workspacesInBucket(position: ShardPosition, { deps, signal }: Sources): AsyncGenerator<WorkspaceId> {
  const { objects, objectKeys } = deps
  const afterPrefix = position.after && objectKeys.workspacePrefix(position.after as WorkspaceId)
  for await (const prefix of objects.listPrefixes(objectKeys.workspacesPrefix, signal, afterPrefix)) {
    const workspaceId = objectKeys.workspaceIdOf(prefix)
    if (workspaceId !== undefined && isOwn(workspaceId, position)) yield workspaceId
  }
}

async function* uploadsByKey(position: ShardPosition, { deps, signal }: Sources): AsyncGenerator<Candidate> {
  const { objects, objectKeys } = deps
  let found: (Candidate & { uploads: UnfinishedUpload[] }) | undefined
  for await (const upload of objects.listUploads(objectKeys.workspacesPrefix, signal, position.after)) {
    const id = upload.objectKey
    const workspaceId = objectKeys.workspaceIdIn(id)
    if (workspaceId === undefined || !isOwn(workspaceId, position)) continue
    if (found && found.id !== id) yield found
    const uploads: UnfinishedUpload[] = found?.id === id ? found.uploads : []
    found = { id, workspaceId, uploads: [...uploads, upload], isAudited: false }
  }
  if (found) yield found
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
