import type { WorkspaceId } from '../ids.ts'
import type { AuditDependencies, AuditOptions } from './audit-context.ts'
import { newShards } from './audit-shard.ts'
import { auditShard } from './audit-slice.ts'
import { auditWorkspace } from './audit-workspace.ts'
import { type AuditCounters, NOTHING_AUDITED } from './findings.ts'

/** Audits one workspace, or all, in one go. */
export async function audit(
  options: AuditOptions & { workspaceId?: WorkspaceId },
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditCounters> {
  const { workspaceId } = options
  const counters = { ...NOTHING_AUDITED }
  if (workspaceId === undefined) {
    const round = { roundId: 'audit', startedAtMs: deps.now(), totalShards: 1 }
    for (const begun of newShards(round)) {
      for await (const shard of auditShard(begun, options, deps, signal)) Object.assign(counters, shard.counters)
    }
    return counters
  }
  const context = { options, counters, deps, signal }
  for await (const _ of auditWorkspace(workspaceId, undefined, context));
  return counters
}
