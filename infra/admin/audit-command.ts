import { audit } from '../../lib/audit/audit.ts'
import type { Finding } from '../../lib/audit/findings.ts'
import { isWorkspaceId } from '../../lib/promotion/ids.ts'
import type { connect } from './connect.ts'

interface AuditCommandOptions {
  repair: boolean
  deleteLostDocuments: boolean
  workspace?: string
  json: boolean
}

/** 0: nothing is wrong, or all of it was mended; 1: something is left. Failures of the command itself end in 2. */
export async function auditCommand(options: AuditCommandOptions, stores: ReturnType<typeof connect>): Promise<0 | 1> {
  const { workspace, repair, deleteLostDocuments, json } = options
  if (workspace !== undefined && !isWorkspaceId(workspace)) throw new Error(`"${workspace}" is not a workspace id`)
  const report = await audit(
    {
      repair,
      deleteLostDocuments,
      ...(workspace === undefined ? {} : { workspaceId: workspace }),
      onFinding: (finding) => console.log(json ? JSON.stringify(finding) : describe(finding)),
    },
    stores,
    new AbortController().signal,
  )
  const left = report.findings - report.repaired
  if (json) console.log(JSON.stringify({ kind: 'report', ...report }))
  else {
    console.log(
      `${report.workspaces} workspaces with ${report.documents} documents of ${report.documentBytes} bytes: ` +
        (report.findings === 0
          ? 'nothing is wrong.'
          : `${report.findings} findings, ${report.repaired} mended, ${left} left.`),
    )
  }
  return left === 0 ? 0 : 1
}

function describe(finding: Finding): string {
  return `${finding.workspaceId}: ${explain(finding)}${finding.isRepaired ? ' (mended)' : ''}`
}

function explain(finding: Finding): string {
  switch (finding.kind) {
    case 'drift':
      return `counts ${finding.usedBytes} bytes, its documents and reservations have ${finding.expectedBytes}`
    case 'expired_reservation':
      return `${finding.purpose} of ${finding.documentId} (${finding.sizeBytes} bytes) was given up ${seconds(finding.overdueMs)} ago`
    case 'object_without_document':
      return `object ${finding.objectKey} (${finding.sizeBytes} bytes) belongs to no document`
    case 'document_without_object':
      return `document ${finding.documentId} (${finding.sizeBytes} bytes) has lost its object ${finding.objectKey}`
    case 'wrong_size':
      return `document ${finding.documentId} has ${finding.sizeBytes} bytes, its object ${finding.objectKey} has ${finding.objectBytes}`
    case 'old_upload':
      return `upload of ${finding.objectKey} was begun ${seconds(finding.ageMs)} ago and never finished`
    case 'not_added_up':
      return 'changed all the time and could not be added up; try again when it is quieter'
  }
}

const seconds = (durationMs: number) => `${Math.round(durationMs / 1000)} s`
