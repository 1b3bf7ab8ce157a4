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
  const isOwn = (file: ContainerFile) => isSame(file) || isCopyOf(file, document, object)
  const describe = ({ etag, modifiedAt }: Pick<ContainerFile, 'etag' | 'modifiedAt'>, isPresent: boolean) => ({
    ...{ isPresent, file: { containerId, path, sizeBytes, etag, modifiedAt } },
  })
  const refuse = ({ etag, sizeBytes: file_bytes }: ContainerFile) => {
    const detail = 'Another file was written to this path meanwhile.'
    const told = { metadata: { ...metadata, etag, file_bytes }, ...(replaces && { detail }) }
    throw new ServiceError('container_file_exists', told)
  }
  // What a container may have forged is replaced, if it may be.
  if (over && (replaces ? isSame(over) : isOwn(over))) return describe(over, true)
  if (over && !replaces) return refuse(over)
  const restoredFrom = { documentId, attemptId, fileId: formatFileId(path) }
  const putBack = { document, object, objectKey, restoredFrom, over, isOwn }
  const written = await deps.containerFileWriter.write(putBack, scope)
  if (written) return describe(written, false)
  const current = await lookUp()
  if (!current) throw new ServiceError('container_file_changed')
  return isOwn(current) ? describe(current, true) : refuse(current)
}

/** Whether a file has a document's bytes, by the SHA-256 that S3 has computed, or else by an ETag of the same bytes. */
function hasBytesOf(file: ContainerFile, document: WorkspaceDocument, object: DocumentObject): boolean {
  const { etag, sizeBytes, contentEncoding, contentType, isArchived, objectKey, sha256 } = file
  const isAlike = sizeBytes === document.sizeBytes && (contentEncoding || undefined) === document.contentEncoding
  if (!isAlike || isArchived || isDirectoryOrLink(objectKey, sizeBytes, contentType)) return false
  if (sha256 !== undefined && document.sha256 !== undefined) return sha256 === document.sha256
  return etag === document.sourceEtag || etag === object.etag
}

/**
 * Whether a file says that it is a copy of a document in as many parts: all that there is to tell where S3 knows no
 * SHA-256, and ETags are no hashes because KMS encrypts the objects.
 */
function isCopyOf(
  { etag, sizeBytes, restoredFrom }: ContainerFile,
  document: WorkspaceDocument,
  object: DocumentObject,
) {
  const partsIn = (tag: string) => /-\d+"$/.exec(tag)?.[0]
  const isInParts = document.sha256 === undefined && partsIn(etag) === partsIn(object.etag)
  return isInParts && sizeBytes === document.sizeBytes && restoredFrom?.attemptId === document.attemptId
}
