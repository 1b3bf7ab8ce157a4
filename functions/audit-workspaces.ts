import type { Context } from 'aws-lambda'
import { createDeadline } from '../lib/deadline.ts'
import { audit } from '../lib/maintenance/audit.ts'
import { type AuditReport, FINDING_KINDS, type Finding, type FindingKind } from '../lib/maintenance/findings.ts'
import { wireMaintenance } from './wiring/wire-maintenance.ts'

const { dependencies, log, metrics } = wireMaintenance('audit-workspaces')

/** Invoked by the schedule of serverless.yml; the event says nothing. Repairs nothing: its role can only read. */
export async function handler(_event: unknown, context: Context): Promise<AuditReport> {
  const { signal } = createDeadline(() => context.getRemainingTimeInMillis())
  const found = new Map<FindingKind, number>(FINDING_KINDS.map((kind) => [kind, 0]))
  const onFinding = ({ kind, workspaceId, ...finding }: Finding) => {
    found.set(kind, (found.get(kind) ?? 0) + 1)
    log.warn('audit finding', { kind, workspace_id: workspaceId, finding })
  }
  const report = await audit({ repair: false, deleteLostDocuments: false, onFinding }, dependencies, signal)
  // Also zeros: they end an alarm.
  for (const [kind, count] of found) metrics.publish({ AuditFindings: count }, { kind })
  metrics.publish({ AuditsIncomplete: report.isComplete ? 0 : 1, ItemsUnreadable: found.get('unreadable_item') ?? 0 })
  log.info('workspaces audited', { ...report })
  return report
}
