import { ServiceError } from '../errors.ts'
import { isDirectoryOrLink } from '../files/media-type.ts'
import { type ContainerId, type FilePath, filePathOf, formatFileId, type WorkspaceId } from '../ids.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { ContainerFile, ContainerLookups } from './container-files.ts'

export interface FileLocation {
  workspaceId: WorkspaceId
  containerId: ContainerId
  path: FilePath
}

export type NamedFile = Pick<FileLocation, 'containerId' | 'path'>

interface LookUpDependencies {
  objects: ContainerLookups
  objectKeys: ObjectKeys
}

/** @throws ServiceError as the lookup, {@link whyMissing} and {@link requireRegular} */
export async function findContainerFile(location: FileLocation, deps: LookUpDependencies, signal: AbortSignal) {
  const file = await deps.objects.findContainerFile(deps.objectKeys.sandboxFile(location), signal)
  if (file === undefined) throw await whyMissing(location, deps, signal)
  requireRegular(file, location)
  return file
}

/** Another workspace's container looks the same as one that does not exist. */
export async function whyMissing(location: FileLocation, deps: LookUpDependencies, signal: AbortSignal) {
  const metadata = metadataOf(location)
  const hasContainer = await deps.objects.hasContainer(deps.objectKeys.containerPrefix(location), signal)
  if (!hasContainer) return new ServiceError('container_not_found', { metadata })
  const other = await findInOtherForm(location, deps, signal)
  return new ServiceError('container_file_not_found', { ...other, metadata: { ...metadata, ...other.metadata } })
}

/** @returns an error that describes the file found instead, so that the caller can choose to promote that one */
export function whyDifferent({ etag, sizeBytes }: ContainerFile, location: NamedFile, etags: readonly string[] = []) {
  const metadata = { ...metadataOf(location), etag, file_bytes: sizeBytes }
  // Proxies that compress do this, so that nobody takes what they send for the same bytes.
  const isChanged = etags.some((tag) => tag.startsWith(etag.slice(0, -1)) && tag !== etag)
  const detail = 'A proxy has added something like "-gzip" to the ETag of this file: send it as etag has it here.'
  return new ServiceError('container_file_differs', { metadata, ...(isChanged && { detail }) })
}

/** The same path in the other Unicode normal form: macOS writes NFD, most others NFC. A reader sees no difference. */
async function findInOtherForm(location: FileLocation, deps: LookUpDependencies, signal: AbortSignal) {
  const nfc = location.path.normalize('NFC')
  const path = filePathOf(nfc === location.path ? nfc.normalize('NFD') : nfc)
  if (path === undefined || path === location.path) return {}
  try {
    const file = await deps.objects.findContainerFile(deps.objectKeys.sandboxFile({ ...location, path }), signal)
    const id = formatFileId(path)
    const detail = `No file has this path, but one has a path that looks the same (NFC, NFD): its id is ${id}.`
    return file ? { detail, metadata: { expected_file_id: id } } : {}
  } catch (cause) {
    // Even so, we know that no file has the requested path.
    return { cause }
  }
}

/** @throws ServiceError container_file_not_regular */
export function requireRegular(file: ContainerFile, location: NamedFile): void {
  if (!isDirectoryOrLink(file.objectKey, file.sizeBytes, file.contentType)) return
  throw new ServiceError('container_file_not_regular', { metadata: metadataOf(location) })
}

/** @throws ServiceError file_too_large */
export function requireSize(sizeBytes: number, { maxFileBytes }: { maxFileBytes: number }): void {
  if (sizeBytes <= maxFileBytes) return
  throw new ServiceError('file_too_large', { metadata: { file_bytes: sizeBytes, max_file_bytes: maxFileBytes } })
}

/** @throws ServiceError container_file_archived */
export function requireReadable(file: ContainerFile, location: NamedFile): void {
  if (file.isArchived) throw archived(location)
}

/** S3 refuses a file that was archived between lookup and copy, but knows neither container nor path. */
export function namingArchived(error: unknown, location: NamedFile): unknown {
  const isArchived = error instanceof ServiceError && error.reason === 'container_file_archived'
  return isArchived ? archived(location, error) : error
}

function archived(location: NamedFile, cause?: unknown): ServiceError {
  return new ServiceError('container_file_archived', { metadata: metadataOf(location), cause })
}

const metadataOf = ({ containerId, path }: NamedFile) => ({ container_id: containerId, path })
