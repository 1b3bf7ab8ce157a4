import { hasPermission } from '../auth/authenticate.ts'
import type { FileLocation } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type DocumentId, documentIdFromHash, type WorkspaceId } from '../ids.ts'
import { hasExpired } from '../ledger/expiry.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import { isMadeOfMeant } from './preconditions.ts'
import type { AttemptRequest, PromotionDependencies, PromotionTarget } from './promotion.ts'

type Found = WorkspaceDocument | DeletedDocument

/** All promotions of a workspace with this key have one document id: twins meet at its claim. */
export function documentIdOfKey(workspaceId: WorkspaceId, idempotencyKey: string): DocumentId {
  // Unambiguous, because no workspace id contains a line break.
  return documentIdFromHash(`${workspaceId}\n${idempotencyKey}`)
}

/** As long as a file is unchanged, all promotions of many files make one document of it: repetitions make nothing twice. */
export function documentIdOfFile({ workspaceId, containerId, path }: FileLocation, etag: string): DocumentId {
  // Ids and paths contain no line breaks, and no text with an Idempotency-Key has more than one.
  return documentIdFromHash([workspaceId, containerId, path, etag].join('\n'))
}

/** @returns undefined when it has expired: another may take its place. @throws ServiceError idempotency_key_spent when it was deleted */
export function requireUnspent(found: Found, nowMs: number): WorkspaceDocument | undefined {
  if (!('isDeleted' in found)) return hasExpired(found, nowMs) ? undefined : found
  if (found.isExpired) return undefined
  throw new ServiceError('idempotency_key_spent')
}

/**
 * @returns the document, or one that has expired, whether or not it is deleted yet
 * @throws ServiceError idempotency_key_reused for another file, named only to who promoted it or may read containers, and
 *   for other bytes than those that the request names; idempotency_key_spent when the document was deleted
 */
export async function findEarlierDocument(
  { workspaceId, documentId, containerId, path }: Omit<PromotionTarget, 'attemptId'>,
  { caller, preconditions, deadline: { signal } }: Omit<AttemptRequest, 'idempotencyKey'>,
  { documents, now }: Pick<PromotionDependencies, 'documents' | 'now'>,
): Promise<{ found?: Found | undefined; document?: WorkspaceDocument | undefined }> {
  const found = await documents.findEvenDeleted(workspaceId, documentId, signal)
  const document = found && requireUnspent(found, now())
  if (document && (document.containerId !== containerId || document.filename !== path)) {
    const mayKnow = document.createdBy === caller.keyId || hasPermission(caller, 'containers:read')
    throw new ServiceError('idempotency_key_reused', {
      metadata: mayKnow ? { container_id: document.containerId, path: document.filename } : {},
    })
  }
  if (document && !isMadeOfMeant(document, preconditions)) {
    throw new ServiceError('idempotency_key_reused', {
      detail: 'This Idempotency-Key was used for a file with other bytes than this request names.',
    })
  }
  return { found, document }
}
