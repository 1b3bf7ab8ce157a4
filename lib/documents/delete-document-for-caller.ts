import { parseDocumentId, type WorkspaceId } from '../ids.ts'
import { deleteDocument } from '../ledger/delete-document.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'

import type { Log } from '../logging.ts'
import { documentNotFound, findUnexpired } from './find-document.ts'
import { tryToReadUsage } from './try-to-read-usage.ts'

/**
 * A repetition gets the same answer while the deletion is remembered.
 * @returns `sizeBytes` is undefined if another request deleted it; `usage`, if it could not be read
 * @throws ServiceError document_not_found, document_expired
 */
export async function deleteDocumentForCaller(
  request: { workspaceId: WorkspaceId; documentId: string | undefined; log: Log },
  deps: LedgerDependencies,
  signal: AbortSignal,
) {
  const { workspaceId } = request
  const documentId = parseDocumentId(request.documentId)
  const document = await findUnexpired({ workspaceId, documentId }, deps, signal)
  if (document === undefined) throw documentNotFound(documentId)
  const deleted = await deleteDocument(document, { unlessExpiredByMs: deps.now() }, deps, signal)
  // It may have expired meanwhile, or the resolver was faster: repetitions will be answered by that.
  if (!deleted || deleted.document.isExpired) await findUnexpired({ workspaceId, documentId }, deps, signal)
  const usage = deleted?.usage ?? (await tryToReadUsage(request, deps, signal))
  // Only the deletion that gave the bytes back knows the usage: it is counted, and others that ran meanwhile are not.
  const isOwn = deleted?.usage !== undefined
  return { documentId, sizeBytes: isOwn ? deleted.document.sizeBytes : undefined, usage }
}
