import type { Command } from 'commander'
import { audit } from '../../../lib/audit/audit.ts'
import type { AuditOptions } from '../../../lib/audit/audit-context.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { ExitCode, Run, Session } from '../session.ts'
import { parseWorkspaceId } from '../terminal/parse-values.ts'
import { requireWorkspace } from './require-workspace.ts'

interface AuditCommandOptions {
  repair: boolean
  deleteLostDocuments: boolean
  sha256: boolean
  workspace?: WorkspaceId
}

export function addAuditCommand(command: Command, run: Run): void {
  command
    .description('compare counts, documents and objects of every workspace, while the service runs')
    .option('--repair', 'repair what is safe to repair', false)
    .option('--delete-lost-documents', 'with --repair: also delete documents whose object is gone', false)
    .option('--sha256', 'also ask S3 for the SHA-256 of each object, one request for each', false)
    .option('--workspace <id>', 'only this workspace', parseWorkspaceId)
    .addHelpText('after', '\nExits with 0 if nothing is wrong or all was repaired, with 1 if something is left.')
    .action(run(auditAndTell))
}

async function auditAndTell(session: Session, options: AuditCommandOptions): Promise<ExitCode> {
  const { output, signal, stores } = session
  const { workspace, repair, deleteLostDocuments } = options
  const auditOptions: AuditOptions = {
    repair,
    deleteLostDocuments,
    comparesSha256: options.sha256,
    onFinding: (finding) => output.print(describeFinding(finding), finding),
    onNotAddedUp: ({ workspaceId, reason }) =>
      output.print(`${workspaceId}: could not be added up (${reason})`, { kind: 'not_added_up', workspaceId, reason }),
  }
  const connected = await stores()
  const report =
    workspace === undefined
      ? await (await import('./audit-all.ts')).auditAll(auditOptions, session)
      : await audit({ ...auditOptions, workspaceId: workspace }, connected, signal)
  // Nobody knows whether what was not audited is right.
  signal.throwIfAborted()
  if (workspace !== undefined && report.documents + report.findings === 0)
    await requireWorkspace(workspace, connected, signal)
  const left = report.findings - report.repaired
  const hint = repair ? '' : ' "audit --repair" repairs what it can.'
  output.print(
    `${report.workspaces} workspaces with ${report.documents} documents of ${report.documentBytes} bytes: ` +
      (report.findings === 0
        ? 'nothing is wrong.'
        : `${report.findings} findings, ${report.repaired} repaired, ${left} left.${hint}`),
    { kind: 'report', ...report, isComplete: true },
  )
  return left === 0 ? 0 : 1
}

export function describeFinding(finding: Finding): string {
  return `${finding.workspaceId}: ${explain(finding)}${finding.isRepaired ? ' (repaired)' : ''}`
}

function explain(finding: Finding): string {
  switch (finding.kind) {
    case 'drift':
      return (
        `counts ${finding.documents} documents of ${finding.usedBytes} bytes, ` +
        `has ${finding.expectedDocuments} of ${finding.expectedBytes}`
      )
    case 'old_leftover':
      return `${finding.leftover} of attempt ${finding.attemptId}${finding.sizeBytes === undefined ? '' : ` (${finding.sizeBytes} bytes)`} was given up ${seconds(finding.overdueMs)} ago`
    case 'overdue_expiry':
      return `document ${finding.documentId} (${finding.sizeBytes} bytes) expired ${seconds(finding.overdueMs)} ago`
    case 'object_without_document':
      return `object ${finding.objectKey} (${finding.sizeBytes} bytes) belongs to no document`
    case 'document_without_object':
      return `document ${finding.documentId} (${finding.sizeBytes} bytes) has lost its object ${finding.objectKey}`
    case 'wrong_size':
      return `document ${finding.documentId} has ${finding.sizeBytes} bytes, its object ${finding.objectKey} has ${finding.objectBytes}`
    case 'wrong_sha256':
      return `document ${finding.documentId} has the SHA-256 ${finding.sha256}, its object ${finding.objectKey} has ${finding.objectSha256 ?? 'none'}`
    case 'unreadable_item':
      return finding.message
    case 'not_audited':
      return `was not audited: ${finding.message}`
  }
}

const seconds = (durationMs: number) => `${Math.round(durationMs / 1000)} s`
