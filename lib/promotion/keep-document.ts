import { ServiceError } from '../errors.ts'
import { chooseExpiry, expiresAtOf, hasExpired } from '../ledger/expiry.ts'
import type { WorkspaceDocument } from '../ledger/ports/document-records.ts'
import { findEarlierDocument } from './idempotency.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

type Target = Omit<PromotionTarget, 'attemptId'>
type Dependencies = Pick<PromotionDependencies, 'documents' | 'expiries' | 'quota' | 'leaseMs' | 'now'>

/** @returns undefined when no earlier request has made the document. @throws as findEarlierDocument and keepDocument */
export async function replay(
  target: Target,
  request: AttemptRequest,
  deps: Dependencies,
): Promise<Promotion | undefined> {
  const document = await findEarlierDocument(target, request, deps)
  return document && keepDocument(document, target, request, deps)
}

/**
 * Answers with the document of an earlier request. If this one asks for a later end, or for none, it gets that.
 * @returns undefined when it has expired meanwhile
 * @throws ServiceError document_expires_soon
 */
export async function keepDocument(
  earlier: WorkspaceDocument,
  target: Target,
  request: AttemptRequest,
  deps: Dependencies,
): Promise<Promotion | undefined> {
  const { signal } = request.deadline
  const answer = { document: earlier, isReplayed: true }
  if (earlier.expiresAt === undefined) return answer
  const usage = await (request.readUsage?.() ?? deps.quota.usage(earlier.workspaceId, signal))
  const expiry = chooseExpiry(request.expiresInSeconds, usage ?? {})
  for (let document: WorkspaceDocument | undefined = earlier; document; ) {
    const now = new Date(deps.now())
    const { expiresAt } = document
    if (hasExpired(document, now.getTime())) return undefined
    const wanted = expiry && expiresAtOf(now, expiry.seconds)
    if (expiresAt === undefined) return { ...answer, document, usage }
    if (wanted && wanted <= expiresAt) {
      const seconds = (expiresAt.getTime() - expiresAtOf(now, 0).getTime()) / 1000
      return { ...answer, document, usage, expiry: { seconds, by: 'earlier' } }
    }
    const leftMs = expiresAt.getTime() - now.getTime()
    // The change may arrive as late as a lease lasts. It must not bring back what has been said to have expired.
    if (leftMs < deps.leaseMs) {
      throw new ServiceError('document_expires_soon', { retryAfterSeconds: Math.ceil(leftMs / 1000) })
    }
    if (await deps.expiries.setExpiry(document, wanted, signal)) {
      return { ...answer, document: { ...document, expiresAt: wanted }, usage, expiry }
    }
    document = await findEarlierDocument(target, request, deps)
  }
  return undefined
}
