import { createHash } from 'node:crypto'
import type { WorkspaceId } from '../ids.ts'
import { UnreadableItemError } from '../unreadable-item.ts'
import type { AuditPhase, AuditShard } from './audit-shard.ts'
import type { AuditDependencies } from './audit-workspace.ts'
import type { UnfinishedUpload } from './object-maintenance.ts'

/** What a shard looks at next. */
export interface Candidate {
  /** Everything up to and including it is done: see AuditShard.after. */
  id: string
  workspaceId: WorkspaceId
  /** The unfinished uploads of one key; undefined: the candidate is the workspace itself. */
  uploads?: UnfinishedUpload[]
  /** Another phase covers it. */
  isKnown: boolean
}

type Share = Pick<AuditShard, 'shard' | 'totalShards'>
type List = (
  share: Share,
  after: string | undefined,
  deps: AuditDependencies,
  signal: AbortSignal,
) => AsyncIterable<Candidate>

/** The candidates of a shard in its phase, from where it stopped. */
export function candidatesOf(
  shard: AuditShard,
  deps: AuditDependencies,
  signal: AbortSignal,
): AsyncIterable<Candidate> {
  return LISTS[shard.phase](shard, shard.after, deps, signal)
}

const LISTS: Record<AuditPhase, List> = {
  async *ledgers(share, after, { ledgers }, signal) {
    for await (const workspaceId of ledgers.list(signal, segmentOf(share, after))) {
      yield { id: workspaceId, workspaceId, isKnown: false }
    }
  },

  async *documents(share, after, deps, signal) {
    for await (const workspaceId of deps.documents.listWorkspaces(segmentOf(share, after), signal)) {
      yield { id: workspaceId, workspaceId, isKnown: await hasLedger(workspaceId, deps, signal) }
    }
  },

  async *reservations(share, after, deps, signal) {
    for await (const workspaceId of deps.reservations.listWorkspaces(segmentOf(share, after), signal)) {
      const isKnown =
        (await hasLedger(workspaceId, deps, signal)) || (await deps.documents.hasWorkspace(workspaceId, signal))
      yield { id: workspaceId, workspaceId, isKnown }
    }
  },

  // S3 lists in one sequence only: each shard reads all of it, a thousand workspaces per call, and picks its share.
  async *objects(share, after, deps, signal) {
    const { objects, objectKeys } = deps
    const afterPrefix = after === undefined ? undefined : objectKeys.workspacePrefix(after as WorkspaceId)
    for await (const prefix of objects.listPrefixes(objectKeys.workspacesPrefix, signal, afterPrefix)) {
      const workspaceId = objectKeys.workspaceIdOf(prefix)
      if (workspaceId === undefined || !isOwn(workspaceId, share)) continue
      const isKnown =
        (await hasLedger(workspaceId, deps, signal)) ||
        (await deps.documents.hasWorkspace(workspaceId, signal)) ||
        (await deps.reservations.hasWorkspace(workspaceId, signal))
      yield { id: workspaceId, workspaceId, isKnown }
    }
  },

  async *uploads(share, after, { objects, objectKeys }, signal) {
    let found: Candidate | undefined
    for await (const upload of objects.listUploads(objectKeys.workspacesPrefix, signal, after)) {
      const workspaceId = objectKeys.workspaceIdIn(upload.objectKey)
      if (workspaceId === undefined || !isOwn(workspaceId, share)) continue
      if (found?.id === upload.objectKey) {
        found.uploads?.push(upload)
        continue
      }
      if (found) yield found
      found = { id: upload.objectKey, workspaceId, uploads: [upload], isKnown: false }
    }
    if (found) yield found
  },
}

const segmentOf = ({ shard: segment, totalShards: totalSegments }: Share, after: string | undefined) => ({
  segment,
  totalSegments,
  after: after as WorkspaceId | undefined,
})

/** Spreads workspaces evenly, however similar their ids. */
function isOwn(workspaceId: WorkspaceId, { shard, totalShards }: Share): boolean {
  return createHash('sha256').update(workspaceId).digest().readUInt32BE() % totalShards === shard
}

async function hasLedger(
  workspaceId: WorkspaceId,
  { ledgers }: AuditDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await ledgers.read(workspaceId, signal)) !== undefined
  } catch (error) {
    if (error instanceof UnreadableItemError) return true
    throw error
  }
}
