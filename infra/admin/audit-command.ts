import { type Command, Option } from 'commander'
import type { WorkspaceId } from '../../lib/ids.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import { auditKeys, explainKeyFinding } from '../../lib/maintenance/audit-keys.ts'
import type { AuditOptions } from '../../lib/maintenance/audit-workspace.ts'
import type { AuditReport, Finding } from '../../lib/maintenance/findings.ts'
import { parseWorkspaceId } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

interface AuditCommandOptions {
  repair: boolean
  deleteLostDocuments: boolean
  workspace?: WorkspaceId
  continue: boolean
}

export function addAuditCommand(command: Command, run: Run): void {
  command
    .description(
      'compare ledger, documents and objects of every workspace, and look through its keys, while the service runs',
    )
    .option('--repair', 'repair what is found', false)
    .option('--delete-lost-documents', 'with --repair: also delete documents whose object is gone', false)
    .option('--workspace <id>', 'only this workspace', parseWorkspaceId)
    .addOption(
      new Option('--continue', 'go on where the last audit was interrupted').default(false).conflicts('workspace'),
    )
    .addHelpText(
      'after',
      '\nEnds with 0 when nothing is wrong or all of it was repaired, with 1 when something is left.',
    )
    .action((options: AuditCommandOptions) => run((session) => auditAndTell(options, session)))
}

async function auditAndTell(options: AuditCommandOptions, session: Session): Promise<ExitCode> {
  const { output, signal, stores } = session
  const { workspace, repair, deleteLostDocuments } = options
  const auditOptions: AuditOptions = {
    repair,
    deleteLostDocuments,
    onFinding: (finding) => output.tell(describeFinding(finding), finding),
    onNotAddedUp: ({ workspaceId, reason }) =>
      output.tell(`${workspaceId}: could not be added up (${reason})`, { kind: 'not_added_up', workspaceId, reason }),
  }
  const connected = await stores()
  const report =
    workspace === undefined
      ? await auditEach(auditOptions, options.continue, session)
      : await audit({ ...auditOptions, workspaceId: workspace }, connected, signal)
  output.progress('auditing the API keys')
  const keyReport = await auditKeys(
    {
      workspaceId: workspace,
      onFinding: (finding) => output.tell(`${finding.workspaceId}: ${explainKeyFinding(finding)}`, { ...finding }),
    },
    connected,
    signal,
  )
  report.findings += keyReport.findings
  // Anything not looked at is not known to be right.
  signal.throwIfAborted()
  const left = report.findings - report.repaired
  output.tell(
    `${report.workspaces} workspaces with ${report.documents} documents of ${report.documentBytes} bytes: ` +
      (report.findings === 0
        ? 'nothing is wrong.'
        : `${report.findings} findings, ${report.repaired} repaired, ${left} left.`) +
      (report.isComplete ? '' : ' Some workspaces were not audited.'),
    { kind: 'report', ...report },
  )
  return left === 0 && report.isComplete ? 0 : 1
}

/** Loaded only now: help and usage errors need no SDK. */
async function auditEach(...args: Parameters<typeof import('./audit-all.ts').auditAll>): Promise<AuditReport> {
  const { auditAll } = await import('./audit-all.ts')
  return auditAll(...args)
}

export function describeFinding(finding: Finding): string {
  return `${finding.workspaceId}: ${explain(finding)}${finding.isRepaired ? ' (repaired)' : ''}`
}

function explain(finding: Finding): string {
  switch (finding.kind) {
    case 'drift':
      return `counts ${finding.usedBytes} bytes, its documents and reservations have ${finding.expectedBytes}`
    case 'expired_reservation':
      return `${finding.purpose} of attempt ${finding.attemptId} (${finding.sizeBytes} bytes) was given up ${seconds(finding.overdueMs)} ago`
    case 'object_without_document':
      return `object ${finding.objectKey} (${finding.sizeBytes} bytes) belongs to no document`
    case 'document_without_object':
      return `document ${finding.documentId} (${finding.sizeBytes} bytes) has lost its object ${finding.objectKey}`
    case 'wrong_size':
      return `document ${finding.documentId} has ${finding.sizeBytes} bytes, its object ${finding.objectKey} has ${finding.objectBytes}`
    case 'unlisted_document':
      return `document ${finding.documentId} was recorded by an older version and is in no list`
    case 'old_upload':
      return `upload of ${finding.objectKey} was begun ${seconds(finding.ageMs)} ago and never finished`
    case 'unreadable_item':
      return finding.message
    case 'not_audited':
      return `was not audited: ${finding.message}`
  }
}

const seconds = (durationMs: number) => `${Math.round(durationMs / 1000)} s`
