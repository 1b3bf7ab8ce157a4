import {
  type DocumentContentDependencies,
  type DocumentObject,
  requireContent,
} from '../documents/download-document.ts'
import { ServiceError } from '../errors.ts'
import { isDirectoryOrLink } from '../files/media-type.ts'
import { formatFileId } from '../ids.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { RequestScope } from '../telemetry.ts'
import type {
  ContainerFile,
  ContainerFileDescription,
  ContainerFileWriter,
  ContainerLookups,
} from './container-files.ts'
import { type FileLocation, requireSize } from './require-container-file.ts'

export interface RestoreDependencies extends DocumentContentDependencies {
  containerFiles: ContainerLookups
  containerFileWriter: ContainerFileWriter
  objectKeys: ObjectKeys
  maxFileBytes: number
}

/**
 * Puts a copy of a document into a container. Whatever a process does meanwhile or dies of, the file is either as it was
 * or whole, and nothing is overwritten but the file that was looked up. So it may be repeated.
 * @param request.replaces whether another file at this path may be replaced
 * @returns `isPresent`: the same bytes were there already
 * @throws ServiceError container_file_exists, container_file_not_regular, file_too_large, file_not_downloadable,
 *   document_not_found, invalid_file_id: the path is too long; container_file_changed
 */
export async function restoreDocument(
  document: WorkspaceDocument,
  location: FileLocation,
  { replaces, ...scope }: { replaces: boolean } & Pick<RequestScope, 'deadline' | 'log'>,
  deps: RestoreDependencies,
): Promise<{ file: ContainerFileDescription; isPresent: boolean }> {
  const { containerId, path } = location
  const { sizeBytes, documentId, attemptId } = document
  const { signal } = scope.deadline
  const objectKey = deps.objectKeys.sandboxFile(location)
  const metadata = { container_id: containerId, path }
  // It could never be promoted again.
  if (isDirectoryOrLink(objectKey, sizeBytes)) throw new ServiceError('container_file_not_regular', { metadata })
  requireSize(sizeBytes, deps)

  const lookUp = () => deps.containerFiles.findContainerFile(objectKey, signal, { withSha256: true })
  const [object, over] = await Promise.all([requireContent(document, scope.log, deps, signal), lookUp()])
  const isSame = (file: ContainerFile) => hasBytesOf(file, document, object)
  const describe = ({ etag, modifiedAt }: Pick<ContainerFile, 'etag' | 'modifiedAt'>) => ({
    ...{ containerId, path, sizeBytes, etag, modifiedAt },
  })
  const presentOrRefused = (file: ContainerFile) => {
    if (isSame(file)) return { file: describe(file), isPresent: true }
    throw new ServiceError('container_file_exists', {
      metadata: { ...metadata, etag: file.etag, file_bytes: file.sizeBytes },
    })
  }
  if (over && (!replaces || isSame(over))) return presentOrRefused(over)
  const restoredFrom = { documentId, attemptId, fileId: formatFileId(path) }
  const written = await deps.containerFileWriter.write(
    { document, object, objectKey, restoredFrom, over, isSame },
    scope,
  )
  if (written) return { file: describe(written), isPresent: false }
  const current = await lookUp()
  if (current) return presentOrRefused(current)
  throw new ServiceError('container_file_changed')
}

/**
 * Whether a file has a document's bytes, as far as S3 tells: by their SHA-256, or by an ETag of the same bytes. S3 knows
 * no SHA-256 of what was copied in parts, and ETags of what KMS encrypts are no hashes: then the file has to be a copy of
 * the document, of as many parts.
 */
function hasBytesOf(file: ContainerFile, document: WorkspaceDocument, object: DocumentObject): boolean {
  const isAlike =
    file.sizeBytes === document.sizeBytes && (file.contentEncoding || undefined) === document.contentEncoding
  if (!isAlike) return false
  if (file.etag === document.sourceEtag || file.etag === object.etag) return true
  if (document.sha256 !== undefined) return file.sha256 === document.sha256
  const partsOf = ({ etag }: { etag: string }) => /-\d+"$/.exec(etag)?.[0]
  return file.restoredFrom?.attemptId === document.attemptId && partsOf(file) === partsOf(object)
}
