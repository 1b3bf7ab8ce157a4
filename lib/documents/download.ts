import { knownType, UNKNOWN_TYPE } from '../media-type.ts'
import { attachmentNamed } from './content-disposition.ts'
import type { SignedDownload } from './download-ports.ts'

export interface Download {
  url: string
  expiresAt: Date
}

/**
 * Always an attachment, so that no browser renders somebody's HTML under the bucket's domain.
 * @param asOctetStream for clients that accept only application/octet-stream
 */
export function describeDownload(
  { objectKey, path, mimeType }: { objectKey: string; path: string; mimeType: string | undefined },
  asOctetStream: boolean,
): SignedDownload {
  return {
    objectKey,
    contentType: (asOctetStream ? undefined : knownType(mimeType)) ?? UNKNOWN_TYPE,
    contentDisposition: attachmentNamed(path),
  }
}
