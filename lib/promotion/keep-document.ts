import { hasPermission } from '../auth/authenticate.ts'
import { ServiceError } from '../errors.ts'
import { chooseExpiry, expiresAtOf, hasExpired } from '../ledger/expiry.ts'
import type { DocumentItem, WorkspaceDocument } from '../ledger/ports/documents.ts'
import { isMadeOfMeant } from './preconditions.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

/** @returns the document, unless it has expired: then another may take its place. @throws ServiceError idempotency_key_spent when it was deleted */
export function requireUnspent(item: DocumentItem | undefined, nowMs: number): WorkspaceDocument | undefined {
  if (item?.state === 'ready') return hasExpired(item, nowMs) ? undefined : item
  if (item && item.state !== 'pending' && !item.isExpired) throw new ServiceError('idempotency_key_spent')
  return undefined
}

/** @returns the answer, if an earlier request has made the document. @throws as requireUnspent, requireSameFile, keepDocument */
export async function replay(
  target: Pick<PromotionTarget, 'containerId' | 'path'>,
  item: DocumentItem | undefined,
  request: Omit<AttemptRequest, 'mayHaveTwin'>,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const document = requireUnspent(item, deps.now())
  return document && keepDocument(requireSameFile(document, target, request), request, deps)
}

/**
 * @throws ServiceError idempotency_key_reused for another file, named only to who promoted it or may read containers, and
 *   for other bytes than those that the request names
 */
export function requireSameFile(
  document: WorkspaceDocument,
  { containerId, path }: Pick<PromotionTarget, 'containerId' | 'path'>,
  { caller, preconditions }: Pick<AttemptRequest, 'caller' | 'preconditions'>,
): WorkspaceDocument {
  if (document.containerId !== containerId || document.filename !== path) {
    const mayKnow = document.createdBy === caller.keyId || hasPermission(caller, 'containers:read')
    throw new ServiceError('idempotency_key_reused', {
      metadata: mayKnow ? { container_id: document.containerId, path: document.filename } : {},
    })
  }
  if (isMadeOfMeant(document, preconditions)) return document
  throw new ServiceError('idempotency_key_reused', {
    detail: 'This Idempotency-Key was used for a file with other bytes than this request names.',
  })
}

/**
 * Answers with the document of an earlier request. If this one asks for a later end, or for none, it gets that.
 * @returns undefined when it has expired meanwhile
 * @throws ServiceError document_expires_soon
 */
export async function keepDocument(
  document: WorkspaceDocument,
  request: Omit<AttemptRequest, 'mayHaveTwin'>,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const { signal } = request.deadline
  const { expiresAt, filename: path } = document
  if (expiresAt === undefined) return { document, isReplayed: true }
  const usage = await request.room.ledger()
  const now = new Date(deps.now())
  const leftMs = expiresAt.getTime() - now.getTime()
  if (leftMs <= 0) return undefined
  const secondsLeft = Math.ceil(leftMs / 1000)
  const asked = chooseExpiry(request.expiresInSeconds, usage ?? {})
  const wanted = asked && expiresAtOf(now, asked.seconds)
  if (wanted && wanted <= expiresAt) {
    return { document, isReplayed: true, usage, expiry: { seconds: secondsLeft, by: 'earlier' } }
  }
  // The change may arrive as late as a lease lasts. It must not bring back what has been said to have expired.
  if (leftMs < deps.leaseMs) throw new ServiceError('document_expires_soon', { retryAfterSeconds: secondsLeft })
  const isSet = await deps.documents.setExpiry(document, wanted, signal)
  if (isSet) return { document: { ...document, expiresAt: wanted }, isReplayed: true, usage, expiry: asked }
  const target = { ...document, path }
  return replay(target, await deps.documents.find(document, signal), request, deps)
}
