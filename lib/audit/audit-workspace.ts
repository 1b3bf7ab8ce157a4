import type { AttemptId, WorkspaceId } from '../ids.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import { type AuditContext, reportFinding, type WorkspaceAudit } from './audit-context.ts'
import { compareWithObject } from './audit-documents.ts'
import { auditDueItem, auditHolds } from './audit-leftovers.ts'
import { addItem, auditSum, beginSum, type UsageSum } from './audit-usage.ts'
import { joinSorted } from './join-sorted.ts'

/** How far a workspace was audited: plain JSON, which goes from slice to slice. */
export interface WorkspacePosition {
  workspaceId: WorkspaceId
  format: typeof FORMAT
  /** Items and objects up to these were compared. */
  afterItemId?: string
  afterObjectKey?: string
  sum: UsageSum
}

/** A position with another format is not continued: the workspace begins anew. */
const FORMAT = 10

/**
 * Compares a workspace's ledger, documents and objects while the service runs. What looks wrong in a listing is read
 * again before it becomes a finding, as a promotion or deletion may be under way.
 * @param from where to continue; undefined: at the start @yields how far it has come, after each item and each object
 */
export async function* auditWorkspace(
  workspaceId: WorkspaceId,
  from: WorkspacePosition | undefined,
  context: AuditContext,
): AsyncGenerator<WorkspacePosition> {
  const audit: WorkspaceAudit = { ...context, workspaceId }
  try {
    const position = from?.format === FORMAT ? from : await begin(audit)
    const sum = yield* compareItems(position, audit)
    await auditHolds(sum.orphans, audit)
    await auditSum(sum, audit)
  } catch (error) {
    if (!(error instanceof UnreadableItemError)) throw error
    await reportFinding({ workspaceId, kind: 'unreadable_item', message: error.message }, audit)
  }
  context.counters.workspaces++
}

/** The ledger is read before any item: that is all there is to the cut (docs/reliability.md). */
async function begin({ workspaceId, deps, signal }: WorkspaceAudit): Promise<WorkspacePosition> {
  const cutAtMs = deps.now()
  const sum = beginSum(await deps.ledger.read(workspaceId, signal), cutAtMs)
  return { workspaceId, format: FORMAT, sum }
}

async function* compareItems(from: WorkspacePosition, audit: WorkspaceAudit) {
  const { workspaceId, counters, deps, signal } = audit
  const { objectKeys, documents, objects } = deps
  let position = from
  const onUnreadable = ({ message }: Error) => {
    position = { ...position, sum: { ...position.sum, isUnreadable: true } }
    return reportFinding({ workspaceId, kind: 'unreadable_item', message }, audit)
  }
  const pairs = joinSorted(
    documents.list(workspaceId, signal, { onUnreadable, after: from.afterItemId }),
    objects.listObjects(objectKeys.workspacePrefix(workspaceId), signal, from.afterObjectKey),
    {
      // Items of other states sort where the document's objects would be.
      left: (item) =>
        item.state === 'ready'
          ? item.objectKey
          : objectKeys.documentObject({ workspaceId, documentId: item.documentId, attemptId: '' as AttemptId }),
      right: ({ objectKey }) => objectKey,
    },
  )
  for await (const { left: item, right: object } of pairs) {
    const document = item?.state === 'ready' ? item : undefined
    if (document || object) await compareWithObject({ document, object }, audit)
    if (item) await auditDueItem(item, audit)
    if (item) position = { ...position, afterItemId: item.itemId, sum: addItem(position.sum, item) }
    if (object) position = { ...position, afterObjectKey: object.objectKey }
    if (document) {
      counters.documents++
      counters.documentBytes += document.sizeBytes
    }
    yield position
  }
  return position.sum
}
