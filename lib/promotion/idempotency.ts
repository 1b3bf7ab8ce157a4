import { hasPermission } from '../auth/caller.ts'
import type { FileLocation, NamedFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type DocumentId, documentIdFromHash, type WorkspaceId } from '../ids.ts'
import { chooseExpiry, endsSoon, expiresAtOf, hasExpired } from '../ledger/expiry.ts'
import type { DocumentItem, WorkspaceDocument } from '../ledger/ports/documents.ts'
import { documentMatches } from './preconditions.ts'
import type { AttemptRequest, Promotion, PromotionDependencies } from './promotion.ts'

/** All promotions of a workspace with this key have one document id: twins meet at its item. */
export function documentIdOfKey(workspaceId: WorkspaceId, idempotencyKey: string): DocumentId {
  // Unambiguous, because no workspace id contains a line break.
  return documentIdFromHash(`${workspaceId}\n${idempotencyKey}`)
}

/** As long as a file is unchanged, all promotions of many files make one document of it: repetitions make nothing twice. */
export function documentIdOfFile({ workspaceId, containerId, path }: FileLocation, etag: string): DocumentId {
  // Ids and paths contain no line breaks, and no text with an Idempotency-Key has more than one.
  return documentIdFromHash([workspaceId, containerId, path, etag].join('\n'))
}

/**
 * Answers with the document of an earlier request. If this one asks for a later end, or for none, it gets that.
 * @returns undefined when there is none, or it has expired: then another may take its place
 * @throws ServiceError idempotency_key_spent when it was deleted, idempotency_key_reused, document_expires_soon
 */
export async function replay(
  target: NamedFile,
  document: DocumentItem | undefined,
  request: Omit<AttemptRequest, 'mayHaveTwin'>,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const isDeleted = document?.state === 'deleting' || document?.state === 'gone'
  if (isDeleted && !document.isExpired) throw new ServiceError('idempotency_key_spent')
  if (document?.state !== 'ready' || hasExpired(document, deps.now())) return undefined
  requireSameFile(document, target, request)
  const kept = await keepAtLeast(document, request, deps)
  return kept ?? replay(target, await deps.documents.find(document, request.deadline.signal), request, deps)
}

/** @returns undefined: it has just changed, or expired. @throws ServiceError document_expires_soon */
export async function keepAtLeast(
  document: WorkspaceDocument,
  { room, expiresInSeconds, deadline }: Pick<AttemptRequest, 'room' | 'expiresInSeconds' | 'deadline'>,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const { expiresAt } = document
  if (expiresAt === undefined) return { document, isReplayed: true }
  const usage = await room.ledger()
  const now = new Date(deps.now())
  const leftMs = expiresAt.getTime() - now.getTime()
  if (leftMs <= 0) return undefined
  const secondsLeft = Math.ceil(leftMs / 1000)
  const asked = chooseExpiry(expiresInSeconds, usage ?? {})
  const wanted = asked && expiresAtOf(now, asked.seconds)
  if (wanted && wanted <= expiresAt) {
    return { document, isReplayed: true, usage, expiry: { seconds: secondsLeft, by: 'earlier' } }
  }
  if (endsSoon(document, now.getTime(), deps.leaseMs))
    throw new ServiceError('document_expires_soon', { retryAfterSeconds: secondsLeft })
  const isSet = await deps.documents.setExpiry(document, wanted, deadline.signal)
  return isSet ? { document: { ...document, expiresAt: wanted }, isReplayed: true, usage, expiry: asked } : undefined
}

/** Names the other file only to the key that promoted it, or to one that may read containers. */
function requireSameFile(
  document: WorkspaceDocument,
  { containerId, path }: NamedFile,
  { caller, preconditions }: Pick<AttemptRequest, 'caller' | 'preconditions'>,
): void {
  if (document.containerId !== containerId || document.filename !== path) {
    const mayKnow = document.createdBy === caller.keyId || hasPermission(caller, 'containers:read')
    const metadata = mayKnow ? { container_id: document.containerId, path: document.filename } : {}
    throw new ServiceError('idempotency_key_reused', { metadata })
  }
  if (documentMatches(document, preconditions)) return
  const detail = 'This Idempotency-Key was used for a file with other bytes than this request names.'
  throw new ServiceError('idempotency_key_reused', { detail })
}
