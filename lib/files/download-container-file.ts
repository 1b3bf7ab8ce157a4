import { requireReadable } from '../promotion/find-container-file.ts'
import { resolveMimeType } from '../promotion/mime-type.ts'
import type { ContainerFilesDependencies } from './container-files.ts'
import { type Download, describeDownload } from './download.ts'
import type { DownloadSigner } from './download-signer.ts'
import { type ContainerFileRequest, findContainerFile } from './find-container-file.ts'

export interface DownloadContainerFileDependencies extends ContainerFilesDependencies {
  downloads: DownloadSigner
  now(): number
}

/**
 * @throws ServiceError invalid_container_id, invalid_file_id, container_not_found, container_file_not_found,
 *   container_file_archived
 */
export async function downloadContainerFile(
  request: ContainerFileRequest & { asOctetStream: boolean },
  deps: DownloadContainerFileDependencies,
  signal: AbortSignal,
): Promise<Download> {
  const { description, file } = await findContainerFile(request, deps, signal)
  requireReadable(file, description)
  const mimeType = request.asOctetStream ? undefined : await resolveMimeType(file.contentType, description.path)
  const { path } = description
  const signed = describeDownload({ objectKey: file.objectKey, path, mimeType }, request.asOctetStream)
  const expiresAt = new Date(deps.now() + deps.downloads.lifetimeSeconds * 1000)
  return { url: await deps.downloads.signContainerFile(signed), expiresAt }
}
