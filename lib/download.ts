import { attachmentNamed } from './content-disposition.ts'

const OCTET_STREAM = 'application/octet-stream'
/** A media type with its parameters (RFC 9110 §8.3.1), short enough for a URL. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(\s*;\s*[\w.+-]+=([\w.+:-]+|"[\w .,:;/+-]*"))*$/
const MAX_TYPE_LENGTH = 200

export interface SignedDownload {
  objectKey: string
  /** Sent as Content-Type, however the object was stored. */
  contentType: string
  contentDisposition: string
}

/** Presigned GETs: each lets its holder read one object until it expires. Signing makes no call. */
export interface DownloadSigner {
  readonly lifetimeSeconds: number
  signDocument(download: SignedDownload): Promise<string>
  signContainerFile(download: SignedDownload): Promise<string>
}

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
  const isSound = mimeType !== undefined && mimeType.length <= MAX_TYPE_LENGTH && MEDIA_TYPE.test(mimeType)
  return {
    objectKey,
    contentType: isSound && !asOctetStream ? mimeType : OCTET_STREAM,
    contentDisposition: attachmentNamed(path),
  }
}
