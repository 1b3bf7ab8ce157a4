import { dispositionOf } from '../files/content-disposition.ts'
import { type Download, type DownloadSigner, lifeOfUrl } from '../files/download.ts'
import { UNKNOWN_TYPE } from '../files/media-type.ts'
import type { ContainerFilesDependencies } from './container-files.ts'
import { type ContainerFileRequest, describeContainerFile } from './describe-container-file.ts'
import { resolveMimeType } from './mime-type.ts'
import { requireReadable } from './require-container-file.ts'

export interface DownloadContainerFileDependencies extends ContainerFilesDependencies {
  downloads: DownloadSigner
  now(): number
}

/** @throws ServiceError as {@link describeContainerFile}, and container_file_archived */
export async function downloadContainerFile(
  request: ContainerFileRequest & { asOctetStream: boolean },
  deps: DownloadContainerFileDependencies,
  signal: AbortSignal,
): Promise<Download> {
  const file = await describeContainerFile(request, deps, signal)
  requireReadable(file, file)
  const { path } = file
  const contentType = request.asOctetStream ? UNKNOWN_TYPE : await resolveMimeType(file, path)
  const life = lifeOfUrl(deps.now())
  // A header cannot be taken away, only replaced.
  const contentEncoding = file.contentEncoding === '' ? 'identity' : file.contentEncoding
  const signed = { objectKey: file.objectKey, contentType, contentDisposition: dispositionOf(path), contentEncoding }
  return { url: await deps.downloads.signContainerFile(signed, life), expiresAt: life.until }
}
