import { newLinkToken } from '../auth/link-token.ts'
import { ServiceError } from '../errors.ts'
import { inlineType } from '../files/media-type.ts'
import type { WorkspaceId } from '../ids.ts'
import { type FindDocumentDependencies, findDocument } from './find-document.ts'
import { hasEnded, type Link, type Links } from './links.ts'

/** Those that race may be a few more. */
const MOST_LINKS = 100

export interface ShareDocumentDependencies extends FindDocumentDependencies {
  links: Links
}

type Wanted = { workspaceId: WorkspaceId; documentId: string | undefined }

/**
 * Makes a link. Only this answer has its token: its hash is stored.
 * @throws ServiceError document_not_found, document_expired, inline_not_allowed, too_many_links
 */
export async function shareDocument(
  request: Wanted & Pick<Link, 'disposition' | 'createdBy'> & { lifeMs: number },
  deps: ShareDocumentDependencies,
  signal: AbortSignal,
): Promise<{ link: Link; token: string }> {
  const { workspaceId, disposition, createdBy } = request
  const { documentId, attemptId, mimeType, expiresAt } = await findDocument(request, deps, signal)
  if (disposition === 'inline' && inlineType(mimeType) === undefined) throw new ServiceError('inline_not_allowed')
  const made = { workspaceId, documentId, attemptId }
  const createdAt = new Date(deps.now())
  const all = await deps.links.list(made, signal)
  const ended = all.filter((each) => hasEnded(each, deps.now()))
  if (all.length - ended.length >= MOST_LINKS) throw new ServiceError('too_many_links')
  // DynamoDB takes days to remove them, and each new link would have to be told from all of them.
  await Promise.all(ended.map((each) => deps.links.remove(each, signal)))
  const endsAtMs = Math.floor((createdAt.getTime() + request.lifeMs) / 1000) * 1000
  const { token, linkId } = newLinkToken(made)
  const link: Link = {
    ...{ ...made, linkId, disposition, createdAt, createdBy },
    // It leads nowhere once its document is gone.
    expiresAt: new Date(Math.min(endsAtMs, expiresAt?.getTime() ?? endsAtMs)),
  }
  if (await deps.links.add(link, token, signal)) return { link, token }
  throw new ServiceError('service_unavailable', { cause: new Error('another link has this id') })
}

/** The document's links that have not ended, oldest first. @throws ServiceError document_not_found, document_expired */
export async function listLinks(request: Wanted, deps: ShareDocumentDependencies, signal: AbortSignal) {
  const all = await deps.links.list(await findDocument(request, deps, signal), signal)
  return all.filter((each) => !hasEnded(each, deps.now()))
}
