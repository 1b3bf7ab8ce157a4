import { UnreadableItemError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { type AuditDependencies, type AuditOptions, auditWorkspace } from './audit-workspace.ts'
import type { AuditReport } from './findings.ts'

/**
 * Audits one workspace, or all: those with a ledger, and those that have objects but no ledger (any more).
 * When the signal aborts, it ends with what it has looked at so far.
 * @param options.onWorkspace called before each workspace, for showing progress
 */
export async function audit(
  options: AuditOptions & { workspaceId?: WorkspaceId; onWorkspace?(workspaceId: WorkspaceId): void },
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<AuditReport> {
  const report: AuditReport = {
    workspaces: 0,
    documents: 0,
    documentBytes: 0,
    findings: 0,
    repaired: 0,
    isComplete: true,
  }
  const workspaceIds = options.workspaceId === undefined ? allWorkspaces(deps, signal) : [options.workspaceId]
  try {
    for await (const workspaceId of workspaceIds) {
      options.onWorkspace?.(workspaceId)
      await auditReadable(workspaceId, options, report, deps, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
    report.isComplete = false
  }
  return report
}

/** A ledger that cannot be read is a finding, and no reason to leave the other workspaces out. */
async function auditReadable(
  workspaceId: WorkspaceId,
  options: AuditOptions,
  report: AuditReport,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<void> {
  try {
    await auditWorkspace(workspaceId, options, report, deps, signal)
  } catch (error) {
    if (!(error instanceof UnreadableItemError)) throw error
    report.findings++
    options.onFinding({ workspaceId, kind: 'unreadable_item', message: error.message, isRepaired: false })
  }
}

async function* allWorkspaces({ ledgers, objects, objectKeys }: AuditDependencies, signal: AbortSignal) {
  for await (const workspaceId of ledgers.list(signal)) yield workspaceId
  for await (const prefix of objects.listPrefixes(objectKeys.workspacesPrefix, signal)) {
    const workspaceId = objectKeys.workspaceIdOf(prefix)
    if (workspaceId && !(await hasLedger(workspaceId))) yield workspaceId
  }

  async function hasLedger(workspaceId: WorkspaceId): Promise<boolean> {
    try {
      return (await ledgers.read(workspaceId, signal)) !== undefined
    } catch (error) {
      if (error instanceof UnreadableItemError) return true
      throw error
    }
  }
}
