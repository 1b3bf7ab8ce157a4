import type { WorkspaceId } from '../ids.ts'
import { auditUpload } from './audit-leftovers.ts'
import { newShard } from './audit-shard.ts'
import { advance } from './audit-slice.ts'
import { type AuditContext, type AuditDependencies, type AuditOptions, auditWorkspace } from './audit-workspace.ts'
import type { AuditReport } from './findings.ts'

const never = () => false

/**
 * Audits one workspace, or all, in one go: a round of one shard in one slice (audit-slice.ts). When the signal aborts,
 * it ends with what it has done so far.
 */
export async function audit(
  options: AuditOptions & { workspaceId?: WorkspaceId },
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditReport> {
  const all = { roundId: 'audit', startedAtMs: deps.now(), shard: 0, totalShards: 1, expectedWorkspaces: 0 }
  const shard = newShard(all)
  const { counters } = shard
  try {
    if (options.workspaceId === undefined) await advance(shard, { ...options, isOver: never }, deps, signal)
    else await auditOne(options.workspaceId, { options, counters, deps, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    return { ...counters, isComplete: false }
  }
  return { ...counters, isComplete: true }
}

async function auditOne(workspaceId: WorkspaceId, context: AuditContext): Promise<void> {
  const { objects, objectKeys } = context.deps
  await auditWorkspace(workspaceId, {}, never, context)
  const uploads = objects.listUploads(objectKeys.workspacePrefix(workspaceId), context.signal)
  for await (const upload of uploads) await auditUpload(workspaceId, upload, context)
}
