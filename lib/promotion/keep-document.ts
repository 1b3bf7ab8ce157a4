import { ServiceError } from '../errors.ts'
import { deleteFound } from '../ledger/delete-document.ts'
import { chooseExpiry, expiresAtOf } from '../ledger/expiry.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import { findEarlierDocument } from './idempotency.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

/** @returns the answer, if an earlier request has made the document. @throws as findEarlierDocument and keepDocument */
export async function replay(target: PromotionTarget, request: AttemptRequest, deps: PromotionDependencies) {
  const { found, document } = await findEarlierDocument(target, request, deps)
  return { found, earlier: document && (await keepDocument(document, request, deps)) }
}

/** As {@link replay}; but what has expired is deleted, without waiting for the resolver, and a new document may take its place. */
export async function replayOrMakeRoom(
  ...args: Parameters<typeof replay>
): Promise<{ earlier?: Promotion | undefined; replaced?: DeletedDocument }> {
  const [, { deadline }, deps] = args
  for (;;) {
    const { earlier, found } = await replay(...args)
    if (earlier || found === undefined) return { earlier }
    if ('isDeleted' in found && found.isGivenBack) return { replaced: found }
    await deleteFound(found, deps, deadline.signal, deps.now())
  }
}

/**
 * Answers with the document of an earlier request. If this one asks for a later end, or for none, it gets that.
 * @returns undefined when it has expired meanwhile
 * @throws ServiceError document_expires_soon
 */
export async function keepDocument(
  document: WorkspaceDocument,
  request: Omit<AttemptRequest, 'idempotencyKey'>,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const { signal } = request.deadline
  const { workspaceId, filename: path, expiresAt } = document
  if (expiresAt === undefined) return { document, isReplayed: true }
  const usage = await (request.readUsage?.() ?? deps.quota.usage(workspaceId, signal))
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
  const isSet = await deps.expiries.setExpiry(document, wanted, signal)
  if (isSet) return { document: { ...document, expiresAt: wanted }, isReplayed: true, usage, expiry: asked }
  const { document: changed } = await findEarlierDocument({ ...document, path }, request, deps)
  return changed && keepDocument(changed, request, deps)
}
