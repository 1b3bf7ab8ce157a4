import type { DocumentId } from '../ids.ts'
import { deleteDocument } from '../promotion/delete-document.ts'
import type { WorkspaceDocument } from '../promotion/document-records.ts'
import type { OpenReservation } from '../promotion/reservations.ts'
import { UnreadableItemError } from '../unreadable-item.ts'
import { isOverdue, readReservations } from './audit-leftovers.ts'
import type { WorkspaceAudit } from './audit-workspace.ts'
import type { StoredDocument } from './document-maintenance.ts'
import type { StoredDocumentObject } from './object-maintenance.ts'
import { reportFinding } from './report-finding.ts'

/** Compares a document with its object; one of them may be missing. */
export async function auditPair(
  { document, object }: { document: StoredDocument | undefined; object: StoredDocumentObject | undefined },
  audit: WorkspaceAudit,
): Promise<void> {
  if (document?.isUnlisted) await auditUnlisted(document, audit)
  if (document && object) await auditSize(document, object, audit)
  else if (document) await auditLostDocument(document, audit)
  else if (object) await auditLooseObject(object, audit)
}

async function auditUnlisted(document: WorkspaceDocument, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, documentId } = document
  await reportFinding({ workspaceId, kind: 'unlisted_document', documentId }, audit, () =>
    audit.deps.documents.addToListing(document, audit.signal),
  )
}

async function auditSize(
  document: WorkspaceDocument,
  object: StoredDocumentObject,
  audit: WorkspaceAudit,
): Promise<void> {
  if (document.sizeBytes === object.sizeBytes) return
  const { workspaceId, documentId, objectKey, sizeBytes } = document
  const sizes = { sizeBytes, objectBytes: object.sizeBytes }
  await reportFinding({ workspaceId, kind: 'wrong_size', documentId, objectKey, ...sizes }, audit, undefined)
}

async function auditLostDocument(document: WorkspaceDocument, audit: WorkspaceAudit): Promise<void> {
  const { deps, signal, options } = audit
  const { workspaceId, documentId, objectKey, sizeBytes } = document
  // The object first: it goes only after the document, so one that is missing now had its document until now.
  if (await deps.objects.hasObject(objectKey, signal)) return
  if ((await deps.documents.find(workspaceId, documentId, signal))?.objectKey !== objectKey) return
  const finding = { workspaceId, kind: 'document_without_object', documentId, objectKey, sizeBytes } as const
  const repair = () => deleteDocument({ workspaceId, documentId, objectKey }, deps, signal)
  await reportFinding(finding, audit, options.deleteLostDocuments ? repair : undefined)
}

async function auditLooseObject({ objectKey, sizeBytes }: StoredDocumentObject, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const ids = deps.objectKeys.idsOf(objectKey)
  // In the order in which an attempt moves from one to the next, so that none under way is missed.
  const ledger = await deps.ledgers.read(workspaceId, signal)
  if (ids && ledger?.takings.some(({ attemptId }) => attemptId === ids.attemptId)) return
  const isExpected = (each: OpenReservation) => each.objectKey === objectKey && !isOverdue(each, audit)
  if ((await readReservations(audit)).some(isExpected)) return
  const isDocuments = ids && (await isObjectOf(ids.documentId, objectKey, audit))
  if (isDocuments || !(await deps.objects.hasObject(objectKey, signal))) return
  // An object that is not named like ours is not ours to remove.
  const repair = ids && (() => deps.objects.discard(objectKey, signal))
  await reportFinding({ workspaceId, kind: 'object_without_document', objectKey, sizeBytes }, audit, repair)
}

/** A deletion that holds the document's bytes and that nobody is due to finish. */
export async function auditDeletion(documentId: DocumentId, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  // The note first: it goes only after the bytes.
  const isNote = (each: OpenReservation) => each.purpose === 'deletion' && each.documentId === documentId
  const note = (await readReservations(audit)).find(isNote)
  if (note && !isOverdue(note, audit)) return
  const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
  if (!document || !('isDeleted' in document) || document.isFinished) return
  const overdueMs = note ? deps.now() - note.leaseExpiresAtMs : 0
  const { attemptId, sizeBytes } = document
  const finding = {
    workspaceId,
    kind: 'expired_reservation',
    attemptId,
    purpose: 'deletion',
    sizeBytes,
    overdueMs,
  } as const
  await reportFinding(finding, audit, () => deleteDocument({ workspaceId, documentId }, deps, signal))
}

/**
 * Whether it belongs to a document, or to one whose deletion has not come so far. An unreadable document counts as the
 * owner: it was reported when the documents were listed.
 */
async function isObjectOf(
  documentId: DocumentId,
  objectKey: string,
  { workspaceId, deps, signal }: WorkspaceAudit,
): Promise<boolean> {
  try {
    const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
    return document?.objectKey === objectKey && !('isDeleted' in document && document.isFinished)
  } catch (error) {
    if (error instanceof UnreadableItemError) return true
    throw error
  }
}
