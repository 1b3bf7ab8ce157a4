import type { Command } from 'commander'
import type { WorkspaceId } from '../../lib/ids.ts'
import { audit } from '../../lib/maintenance/audit.ts'
import { auditKeys, explainKeyFinding } from '../../lib/maintenance/audit-keys.ts'
import type { Finding } from '../../lib/maintenance/findings.ts'
import { parseWorkspaceId } from './parse-values.ts'
import type { ExitCode, Run, Session } from './session.ts'

interface AuditCommandOptions {
  repair: boolean
  deleteLostDocuments: boolean
  workspace?: WorkspaceId
}

export function addAuditCommand(command: Command, run: Run): void {
  command
    .description(
      'compare ledger, documents and objects of every workspace, and look through its keys, while the service runs',
    )
    .option('--repair', 'repair what is found', false)
    .option('--delete-lost-documents', 'with --repair: also delete documents whose object is gone', false)
    .option('--workspace <id>', 'only this workspace', parseWorkspaceId)
    .addHelpText(
      'after',
      '\nEnds with 0 when nothing is wrong or all of it was repaired, with 1 when something is left.',
    )
    .action((options: AuditCommandOptions) => run((session) => auditAndTell(options, session)))
}

async function auditAndTell(
  { workspace, ...options }: AuditCommandOptions,
  { output, signal, stores }: Session,
): Promise<ExitCode> {
  let number = 0
  const connected = await stores()
  const report = await audit(
    {
      ...options,
      ...(workspace === undefined ? {} : { workspaceId: workspace }),
      onWorkspace: (workspaceId) => output.progress(`auditing workspace ${++number}: ${workspaceId}`),
      onFinding: (finding) => output.tell(describeFinding(finding), finding),
    },
    connected,
    signal,
  )
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
        : `${report.findings} findings, ${report.repaired} repaired, ${left} left.`),
    { kind: 'report', ...report },
  )
  return left === 0 ? 0 : 1
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
    case 'not_added_up':
      return 'changed all the time and could not be added up; try again when it is quieter'
  }
}

const seconds = (durationMs: number) => `${Math.round(durationMs / 1000)} s`
