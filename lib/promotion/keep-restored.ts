import type { ContainerFile } from '../containers/container-files.ts'
import { formatFileId } from '../ids.ts'
import { endsSoon } from '../ledger/expiry.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import { ifUnreadable } from '../ledger/ports/unreadable-item.ts'
import { keepAtLeast } from './idempotency.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

/**
 * The document that a file was put back from, if the file is as it was and where it was: so it is not kept twice. A
 * container can forge where a file comes from, but not the SHA-256 that S3 itself has computed of its bytes.
 * @returns undefined: it is to be promoted like any other
 */
export async function keepRestored(
  target: PromotionTarget,
  file: ContainerFile,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
  const { workspaceId, documentId, path } = target
  const { restoredFrom } = file
  if (restoredFrom?.fileId !== formatFileId(path) || restoredFrom.documentId === documentId) return undefined
  const { signal } = request.deadline
  const [looked, items] = await Promise.all([
    deps.objects.findContainerFile(file.objectKey, signal, { withSha256: true }),
    deps.documents.findAll(workspaceId, [restoredFrom.documentId, documentId], signal).catch(ifUnreadable([])),
  ])
  const [document, ...others] = items
  // An item of the target's own id is what an earlier request has made, or has begun.
  if (document?.documentId !== restoredFrom.documentId || document.state !== 'ready' || others.length > 0)
    return undefined
  const isUnchanged = looked?.etag === file.etag && looked.versionId === file.versionId
  if (!isUnchanged || !hasBytesOf(looked, document, request)) return undefined
  // Too late to keep it for longer.
  if (endsSoon(document, deps.now(), deps.leaseMs)) return undefined
  return keepAtLeast(document, request, deps)
}

function hasBytesOf(
  { sizeBytes, sha256, contentEncoding }: ContainerFile,
  document: WorkspaceDocument,
  { preconditions }: AttemptRequest,
): boolean {
  const isAlike = document.sizeBytes === sizeBytes && document.contentEncoding === (contentEncoding || undefined)
  const isWanted = (preconditions?.sha256 ?? sha256) === sha256
  return isAlike && isWanted && sha256 !== undefined && document.sha256 === sha256
}
