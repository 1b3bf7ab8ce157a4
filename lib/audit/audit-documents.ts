import type { DocumentId } from '../ids.ts'
import { deleteDocument } from '../ledger/delete-document.ts'
import { hasExpired } from '../ledger/expiry.ts'
import type { WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { ReservationItem } from '../ledger/ports/reservations.ts'
import { UnreadableItemError } from '../ledger/ports/unreadable-item.ts'
import { reportFinding, type WorkspaceAudit } from './audit-context.ts'
import { isOverdue, readReservations } from './audit-leftovers.ts'
import type { StoredDocumentObject } from './ports/object-maintenance.ts'

/** For this long, an expired document is left to the resolver: an alarm tells when it does not keep up. */
const OVERDUE_EXPIRY_MS = 60 * 60 * 1000

/** Compares a document with its object; one of them may be missing. */
export async function auditPair(
  { document, object }: { document: WorkspaceDocument | undefined; object: StoredDocumentObject | undefined },
  audit: WorkspaceAudit,
): Promise<void> {
  if (document && object) await auditBytes(document, object, audit)
  else if (document) await auditDocumentWithoutObject(document, audit)
  else if (object) await auditObjectWithoutDocument(object, audit)
  if (document) await auditExpiry(document, audit)
}

/** Left to the resolver: this clock may be wrong. */
async function auditExpiry(listed: WorkspaceDocument, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const byMs = deps.now() - OVERDUE_EXPIRY_MS
  if (!hasExpired(listed, byMs)) return
  const document = await deps.documents.find(workspaceId, listed.documentId, signal)
  if (!document?.expiresAt || !hasExpired(document, byMs)) return
  const { documentId, sizeBytes } = document
  const overdueMs = deps.now() - document.expiresAt.getTime()
  await reportFinding({ workspaceId, kind: 'overdue_expiry', documentId, sizeBytes, overdueMs }, audit)
}

async function auditBytes(
  { workspaceId, documentId, objectKey, sizeBytes, sha256 }: WorkspaceDocument,
  { sizeBytes: objectBytes }: StoredDocumentObject,
  audit: WorkspaceAudit,
): Promise<void> {
  if (sizeBytes !== objectBytes) {
    await reportFinding({ workspaceId, kind: 'wrong_size', documentId, objectKey, sizeBytes, objectBytes }, audit)
  } else if (audit.options.comparesSha256 && sha256 !== undefined) {
    const object = await audit.deps.objects.describeObject(objectKey, audit.signal)
    // Without an object, the document was deleted meanwhile. One without a SHA-256 is not the one that was recorded.
    if (object === undefined || object.sha256 === sha256) return
    const objectSha256 = object.sha256 ?? null
    await reportFinding({ workspaceId, kind: 'wrong_sha256', documentId, objectKey, sha256, objectSha256 }, audit)
  }
}

async function auditDocumentWithoutObject(document: WorkspaceDocument, audit: WorkspaceAudit): Promise<void> {
  const { deps, signal, options } = audit
  const { workspaceId, documentId, objectKey, sizeBytes } = document
  // The object is read first: it is deleted only after its document, so if that is still there, the object is lost.
  if (await deps.objects.hasObject(objectKey, signal)) return
  if ((await deps.documents.find(workspaceId, documentId, signal))?.objectKey !== objectKey) return
  const finding = { workspaceId, kind: 'document_without_object', documentId, objectKey, sizeBytes } as const
  const repair = () => deleteDocument({ workspaceId, documentId, objectKey }, deps, signal)
  await reportFinding(finding, audit, options.deleteLostDocuments ? repair : undefined)
}

async function auditObjectWithoutDocument(
  { objectKey, sizeBytes }: StoredDocumentObject,
  audit: WorkspaceAudit,
): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const ids = deps.objectKeys.idsOf(objectKey)
  // These are read in the order in which an attempt moves through them, so that none under way is missed.
  const ledger = await deps.workspaces.read(workspaceId, signal)
  if (ids && ledger?.takings.some(({ attemptId }) => attemptId === ids.attemptId)) return
  const isExpected = (each: ReservationItem) => each.objectKey === objectKey && !isOverdue(each, audit)
  if ((await readReservations(audit)).some(isExpected)) return
  const isDocuments = ids && (await isObjectOf(ids.documentId, objectKey, audit))
  if (isDocuments || !(await deps.objects.hasObject(objectKey, signal))) return
  // An object that is not named like a document's is not ours to remove.
  const repair = ids && (() => deps.objects.discard(objectKey, signal))
  await reportFinding({ workspaceId, kind: 'object_without_document', objectKey, sizeBytes }, audit, repair)
}

/** Reports a deletion that still holds the document's bytes and that no scheduled check will finish. */
export async function auditDeletion(documentId: DocumentId, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  // The note is read first: it goes only after the bytes are given back.
  const isNote = (each: ReservationItem) => each.purpose === 'deletion' && each.documentId === documentId
  const note = (await readReservations(audit)).find(isNote)
  if (note && !isOverdue(note, audit)) return
  const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
  if (!document || !('isDeleted' in document) || document.isGivenBack) return
  const overdueMs = note ? deps.now() - note.leaseExpiresAtMs : 0
  const { attemptId, sizeBytes } = document
  const finding = { workspaceId, attemptId, leftover: 'deletion', sizeBytes, overdueMs } as const
  const repair = () => deleteDocument({ workspaceId, documentId }, deps, signal)
  await reportFinding({ kind: 'old_leftover', ...finding }, audit, repair)
}

/**
 * Whether the object belongs to a document, or to a deleted one whose bytes are not given back yet. An unreadable
 * document counts as the owner: it was reported when the documents were listed.
 */
async function isObjectOf(
  documentId: DocumentId,
  objectKey: string,
  { workspaceId, deps, signal }: WorkspaceAudit,
): Promise<boolean> {
  try {
    const document = await deps.documents.findEvenDeleted(workspaceId, documentId, signal)
    return document?.objectKey === objectKey && !('isDeleted' in document && document.isGivenBack)
  } catch (error) {
    if (error instanceof UnreadableItemError) return true
    throw error
  }
}
