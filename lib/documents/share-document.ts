import { newLinkToken, readLinkToken } from '../auth/link-token.ts'
import { ServiceError } from '../errors.ts'
import { inlineType } from '../files/inline-type.ts'
import type { WorkspaceId } from '../ids.ts'
import { type FindDocumentDependencies, findDocument } from './find-document.ts'
import type { Link, Links } from './links.ts'

/** Those that race may be a few more. */
const MOST_LINKS = 100

export interface ShareDocumentDependencies extends FindDocumentDependencies {
  links: Links
}

/**
 * Makes a link. Only this answer has its token: its hash is stored.
 * @throws ServiceError document_not_found, document_expired, inline_not_allowed, too_many_links
 */
export async function shareDocument(
  request: { workspaceId: WorkspaceId; documentId: string | undefined; lifeMs: number } & Pick<
    Link,
    'disposition' | 'createdBy'
  >,
  deps: ShareDocumentDependencies,
  signal: AbortSignal,
): Promise<{ link: Link; token: string }> {
  const { workspaceId, disposition, createdBy } = request
  const { documentId, attemptId, mimeType, expiresAt } = await findDocument(request, deps, signal)
  if (disposition === 'inline' && inlineType(mimeType) === undefined) throw new ServiceError('inline_not_allowed')
  const made = { workspaceId, documentId, attemptId }
  const others = await deps.links.list(made, signal)
  if (others.length >= MOST_LINKS) throw new ServiceError('too_many_links')
  const createdAt = new Date(deps.now())
  const endsAtMs = Math.floor((createdAt.getTime() + request.lifeMs) / 1000) * 1000
  const token = newLinkToken(made)
  const link: Link = {
    ...{ ...made, disposition, createdAt, createdBy },
    linkId: readLinkToken(token)?.linkId ?? '',
    // It leads nowhere once its document is gone.
    expiresAt: new Date(Math.min(endsAtMs, expiresAt?.getTime() ?? endsAtMs)),
  }
  if (await deps.links.add(link, token, signal)) return { link, token }
  throw new ServiceError('service_unavailable', { cause: new Error('another link has this id') })
}

/** The document's links that have not ended, oldest first. @throws ServiceError document_not_found, document_expired */
export async function listLinks(
  request: { workspaceId: WorkspaceId; documentId: string | undefined },
  deps: ShareDocumentDependencies,
  signal: AbortSignal,
): Promise<Link[]> {
  const links = await deps.links.list(await findDocument(request, deps, signal), signal)
  return links.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
}
