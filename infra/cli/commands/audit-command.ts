import type { Command } from 'commander'
import { audit } from '../../../lib/audit/audit.ts'
import type { AuditOptions } from '../../../lib/audit/audit-context.ts'
import type { Finding } from '../../../lib/audit/findings.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { ExitCode, Run, Session } from '../session.ts'
import { snakeCase } from '../terminal/output.ts'
import { parseWorkspaceId } from '../terminal/parse-values.ts'
import { requireWorkspace } from './require-workspace.ts'

type Options = Pick<AuditOptions, 'repair' | 'deleteLostDocuments'> & { sha256: boolean; workspace?: WorkspaceId }

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

async function auditAndTell(session: Session, { workspace, sha256, ...options }: Options): Promise<ExitCode> {
  const { output, signal, stores } = session
  const auditOptions: AuditOptions = {
    ...options,
    comparesSha256: sha256,
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
  const hint = options.repair ? '' : ' "audit --repair" repairs what it can.'
  const audited = `${report.workspaces} workspaces with ${report.documents} documents of ${report.documentBytes} bytes`
  const found = `${report.findings} findings, ${report.repaired} repaired, ${left} left.${hint}`
  const text = `${audited}: ${report.findings === 0 ? 'nothing is wrong.' : found}`
  output.print(text, { kind: 'report', ...report, isComplete: true })
  return left === 0 ? 0 : 1
}

/** By the words of docs/administration.md, which says what each kind of finding means. */
function describeFinding({ workspaceId, kind, isRepaired, ...facts }: Finding): string {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const text = known.map(([name, value]) => `${snakeCase(name)} ${value}`).join(', ')
  return `${workspaceId}: ${kind}${isRepaired ? ' (repaired)' : ''}: ${text}`
}
