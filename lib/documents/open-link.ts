import { ServiceError } from '../errors.ts'
import { type Download, describeDownload, lifeOfUrl } from '../files/download.ts'
import { inlineType, isPlayed } from '../files/inline-type.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { Ledger } from '../ledger/ports/ledger.ts'
import type { Log } from '../logging.ts'
import { type DownloadDocumentDependencies, requireContent } from './download-document.ts'
import { findDocument } from './find-document.ts'
import type { Link, Links } from './links.ts'

export interface OpenLinkDependencies extends DownloadDocumentDependencies {
  links: Pick<Links, 'find'>
  ledger: Pick<Ledger, 'read'>
}

/** Players ask again for another part of a film whenever somebody jumps to it. */
const LIFE_OF_PLAYED_MS = 3_600_000

/**
 * Whoever has no more than a link learns nothing of what became of it or of its document.
 * @param request.token what follows it does not matter
 * @throws ServiceError link_not_found, for whatever is not there; service_unavailable
 */
export async function openLink(
  { token, log }: { token: string; log: Log },
  deps: OpenLinkDependencies,
  signal: AbortSignal,
): Promise<{ document: WorkspaceDocument; contentType: string; download: Download }> {
  const link = await deps.links.find(token, signal)
  if (link === undefined) throw new ServiceError('link_not_found')
  try {
    const document = await findLinked(link, deps, signal)
    await requireContent(document, log, deps, signal)
    const nowMs = deps.now()
    const { disposition } = link
    const inline = disposition === 'inline' ? inlineType(document.mimeType) : undefined
    const contentType = inline ?? document.mimeType
    const described = describeDownload(document.objectKey, document.filename, contentType, disposition)
    // The link ends no later than its document.
    const life = lifeOfUrl(nowMs, link.expiresAt, inline && isPlayed(inline) ? LIFE_OF_PLAYED_MS : undefined)
    const download = { url: await deps.downloads.signDocument(described, life), expiresAt: life.until }
    return { document, contentType, download }
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404
    throw isGone ? new ServiceError('link_not_found', { cause: error }) : error
  }
}

/** An id may be given again to what is made of another file: a link goes on to the document that it was made for. */
async function findLinked(link: Link, deps: OpenLinkDependencies, signal: AbortSignal): Promise<WorkspaceDocument> {
  const [document, ledger] = await Promise.all([
    findDocument(link, deps, signal),
    deps.ledger.read(link.workspaceId, signal),
  ])
  // A platform that disables a workspace wants nothing of it to be seen.
  if (document.attemptId === link.attemptId && !ledger?.isDisabled) return document
  throw new ServiceError('link_not_found')
}
