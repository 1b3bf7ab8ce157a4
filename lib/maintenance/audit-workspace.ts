import type { AttemptId, DocumentId, WorkspaceId } from '../ids.ts'
import type { ResolverDependencies } from '../promotion/resolve-workspace.ts'
import { UnreadableItemError } from '../unreadable-item.ts'
import { auditDeletion, auditPair } from './audit-documents.ts'
import { auditLeftovers } from './audit-leftovers.ts'
import { beginUsage, endUsage, type NotAddedUpReason, type UsageState, usageSum } from './audit-usage.ts'
import type { DocumentMaintenance } from './document-maintenance.ts'
import type { AuditCounters, Finding } from './findings.ts'
import { joinSorted } from './join-sorted.ts'
import type { LedgerMaintenance } from './ledger-maintenance.ts'
import type { ObjectMaintenance } from './object-maintenance.ts'
import { reportFinding } from './report-finding.ts'
import type { TableWorkspaces } from './table-workspaces.ts'

export interface AuditDependencies extends ResolverDependencies {
  ledgers: LedgerMaintenance
  reservations: ResolverDependencies['reservations'] & TableWorkspaces
  documents: ResolverDependencies['documents'] & DocumentMaintenance & TableWorkspaces
  objects: ResolverDependencies['objects'] & ObjectMaintenance
}

export interface AuditOptions {
  /** Repairs findings, as far as that is safe. */
  repair: boolean
  /**
   * With repair: also deletes the records of documents whose objects are gone. Only on request: they may be all
   * that is left to restore the bytes from, and with a wrong bucket every document looks lost.
   */
  deleteLostDocuments: boolean
  /** Called for each finding at once: there may be more than memory holds. */
  onFinding(finding: Finding): void
  /** Called for a workspace that could not be added up: whether it has drift is unknown. */
  onNotAddedUp?(workspace: { workspaceId: WorkspaceId; reason: NotAddedUpReason }): void
  /** Called after each workspace that was counted, to show progress. */
  onWorkspace?(): void
}

export interface AuditContext {
  options: AuditOptions
  counters: AuditCounters
  deps: AuditDependencies
  signal: AbortSignal
}

export interface WorkspaceAudit extends AuditContext {
  workspaceId: WorkspaceId
}

/** How far a workspace was audited: plain JSON, which goes from slice to slice. */
export interface WorkspacePosition {
  workspaceId: WorkspaceId
  format: typeof FORMAT
  /** Rows and objects up to these were compared. */
  afterDocumentId?: DocumentId
  afterObjectKey?: string
  isReadable: boolean
  usage: UsageState
}

/** A position with another format is not continued: the workspace begins anew. */
const FORMAT = 2

/**
 * Compares a workspace's ledger, documents and objects while the service runs. What looks wrong in a listing is read
 * again before it becomes a finding: a promotion or deletion under way is not a finding. Listings are streamed. A
 * ledger or reservation that cannot be read is a finding, and does not stop the audit of other workspaces.
 * @param place its `workspace` is where to continue, updated at every step; undefined before the start and when done
 * @param isOver asked after each step
 */
export async function auditWorkspace(
  workspaceId: WorkspaceId,
  place: { workspace?: WorkspacePosition },
  isOver: () => boolean,
  context: AuditContext,
): Promise<void> {
  const audit: WorkspaceAudit = { ...context, workspaceId }
  try {
    if (place.workspace?.format !== FORMAT) place.workspace = await begin(audit)
    if (!(await lookThrough(place.workspace, isOver, audit))) return
  } catch (error) {
    if (!(error instanceof UnreadableItemError)) throw error
    reportUnreadable(error, audit)
  }
  delete place.workspace
  // Not before it is done: after a failure, the next slice looks at the workspace again.
  context.counters.workspaces++
  context.options.onWorkspace?.()
}

async function begin(audit: WorkspaceAudit): Promise<WorkspacePosition> {
  const { workspaceId, deps, signal } = audit
  await auditLeftovers(audit)
  const usage = await beginUsage(workspaceId, deps, signal)
  return { workspaceId, format: FORMAT, isReadable: true, usage }
}

/** @returns false when it stopped on the way */
async function lookThrough(
  position: WorkspacePosition,
  isOver: () => boolean,
  audit: WorkspaceAudit,
): Promise<boolean> {
  const { workspaceId, options, deps, signal } = audit
  if (!(await joinWithObjects(position, isOver, audit))) return false
  const result = position.isReadable
    ? await endUsage(position.usage, deps, signal)
    : ({ outcome: 'not_added_up', reason: 'unreadable' } as const)
  if (result.outcome === 'drift') {
    const { usedBytes, expectedBytes, correct } = result
    await reportFinding({ workspaceId, kind: 'drift', usedBytes, expectedBytes }, audit, correct)
  }
  if (result.outcome === 'not_added_up') {
    audit.counters.notAddedUp++
    options.onNotAddedUp?.({ workspaceId, reason: result.reason })
  }
  return true
}

async function joinWithObjects(
  position: WorkspacePosition,
  isOver: () => boolean,
  audit: WorkspaceAudit,
): Promise<boolean> {
  const { workspaceId, counters, deps, signal } = audit
  const { objectKeys, documents, objects } = deps
  const sum = usageSum(position.usage)
  const onUnreadable = (error: Error) => {
    position.isReadable = false
    reportUnreadable(error, audit)
  }
  const pairs = joinSorted(
    documents.listRows(workspaceId, signal, { onUnreadable, after: position.afterDocumentId }),
    objects.listObjects(objectKeys.workspacePrefix(workspaceId), signal, position.afterObjectKey),
    {
      // Rows without a document take the place of its possible objects.
      left: ({ documentId, document }) =>
        document?.objectKey ?? objectKeys.documentObject({ workspaceId, documentId, attemptId: '' as AttemptId }),
      right: ({ objectKey }) => objectKey,
    },
  )
  for await (const { left: row, right: object } of pairs) {
    const document = row?.document
    if (document || object) await auditPair({ document, object }, audit)
    if (row?.isUnfinished) await auditDeletion(row.documentId, audit)
    // Without an await in between, so that the sum always matches the position.
    if (row) {
      sum.add(row)
      position.afterDocumentId = row.documentId
    }
    if (document) {
      counters.documents++
      counters.documentBytes += document.sizeBytes
    }
    if (object) position.afterObjectKey = object.objectKey
    if (isOver()) return false
  }
  return true
}

function reportUnreadable({ message }: Error, { workspaceId, counters, options }: WorkspaceAudit): void {
  counters.findings++
  options.onFinding({ workspaceId, kind: 'unreadable_item', message, isRepaired: false })
}
