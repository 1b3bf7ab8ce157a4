import { ServiceError } from '../errors.ts'
import { dispositionOf } from '../files/content-disposition.ts'
import { type Download, lifeOfUrl } from '../files/download.ts'
import { inlineType, isPlayed } from '../files/media-type.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { Ledger } from '../ledger/ports/ledger.ts'
import type { Log } from '../logging.ts'
import { type DownloadDocumentDependencies, requireContent } from './download-document.ts'
import { findDocument } from './find-document.ts'
import type { Links } from './links.ts'

export interface OpenLinkDependencies extends DownloadDocumentDependencies {
  links: Pick<Links, 'find'>
  ledger: Pick<Ledger, 'read'>
}

/** Players ask again for another part of a film whenever somebody jumps to it. */
const LIFE_OF_PLAYED_MS = 3_600_000

/**
 * Whoever has no more than a link learns nothing of what became of it or of its document.
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
    const [document, ledger] = await Promise.all([
      findDocument(link, deps, signal),
      deps.ledger.read(link.workspaceId, signal),
    ])
    const { state = 'scheduled' } = ledger?.erasure ?? {}
    // An id may be given again. And whoever disables or ends a workspace wants nothing of it to be seen.
    if (document.attemptId !== link.attemptId || ledger?.isDisabled || state !== 'scheduled')
      throw new ServiceError('link_not_found')
    await requireContent(document, log, deps, signal)
    const inline = link.disposition === 'inline' ? inlineType(document.mimeType) : undefined
    const contentType = inline ?? document.mimeType
    const contentDisposition = dispositionOf(document.filename, inline === undefined ? 'attachment' : 'inline')
    const described = { objectKey: document.objectKey, contentType, contentDisposition }
    const endMs = Math.min(link.expiresAt.getTime(), document.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY)
    const life = lifeOfUrl(deps.now(), new Date(endMs), inline && isPlayed(inline) ? LIFE_OF_PLAYED_MS : undefined)
    const download = { url: await deps.downloads.signDocument(described, life), expiresAt: life.until }
    return { document, contentType, download }
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404
    throw isGone ? new ServiceError('link_not_found', { cause: error }) : error
  }
}
