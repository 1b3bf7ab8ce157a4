import type { WorkspaceId } from '../ids.ts'
import type { AuditDependencies, AuditOptions } from './audit-context.ts'
import { auditWorkspace } from './audit-workspace.ts'
import { type AuditCounters, NOTHING_AUDITED } from './findings.ts'

/** Audits one workspace in one go. */
export async function audit(
  options: AuditOptions & { workspaceId: WorkspaceId },
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditCounters> {
  const context = { options, counters: { ...NOTHING_AUDITED }, deps, signal }
  for await (const _ of auditWorkspace(options.workspaceId, undefined, context));
  return context.counters
}
