import { deleteDocument } from '../ledger/delete-document.ts'
import type { Attempt, WorkspaceDocument } from '../ledger/ports/documents.ts'
import { ifUnreadable } from '../ledger/ports/unreadable-item.ts'
import { reportFinding, type WorkspaceAudit } from './audit-context.ts'
import type { StoredDocumentObject } from './ports/object-maintenance.ts'

/** Compares a document with its object; one of them may be missing. */
export async function compareWithObject(
  { document, object }: { document: WorkspaceDocument | undefined; object: StoredDocumentObject | undefined },
  audit: WorkspaceAudit,
): Promise<void> {
  if (document && object) await auditBytes(document, object, audit)
  else if (document) await auditDocumentWithoutObject(document, audit)
  else if (object) await auditObjectWithoutDocument(object, audit)
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
  const found = await deps.documents.find(document, signal)
  if (found?.state !== 'ready' || found.objectKey !== objectKey) return
  const finding = { workspaceId, kind: 'document_without_object', documentId, objectKey, sizeBytes } as const
  const repair = () => deleteDocument(found, {}, deps, signal)
  await reportFinding(finding, audit, options.deleteLostDocuments ? repair : undefined)
}

async function auditObjectWithoutDocument({ objectKey, sizeBytes }: StoredDocumentObject, audit: WorkspaceAudit) {
  const { workspaceId, deps, signal } = audit
  const ids = deps.objectKeys.idsOf(objectKey)
  // Its attempt's item is there before the object and until that is gone, unless an undo has put a stray in its place.
  if (ids && (await hasItem({ ...ids, workspaceId, objectKey }, audit))) return
  if (!(await deps.objects.hasObject(objectKey, signal))) return
  // An erasure removes items before their objects, which may be locked.
  const { erasure } = (await deps.ledger.read(workspaceId, signal)) ?? {}
  if (erasure && erasure.state !== 'scheduled') return
  // An object that is not named like a document's is not ours to remove.
  const repair = ids && (() => deps.objects.discard({ objectKey }, signal))
  await reportFinding({ workspaceId, kind: 'object_without_document', objectKey, sizeBytes }, audit, repair)
}

/** An unreadable item counts: it was reported when the items were listed. */
async function hasItem(attempt: Attempt, { deps, signal }: WorkspaceAudit): Promise<boolean> {
  const item = await deps.documents.find(attempt, signal).catch(ifUnreadable('unreadable' as const))
  if (item === 'unreadable') return true
  if (item?.attemptId === attempt.attemptId && item.state !== 'gone') return true
  return (await deps.documents.findStray(attempt, signal).catch(ifUnreadable('unreadable'))) !== undefined
}
