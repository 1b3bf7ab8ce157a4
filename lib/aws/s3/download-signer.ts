import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { DownloadSigner, SignedDownload, UrlLife } from '../../files/download.ts'

/** Signs with the function's credentials: its role must be allowed to read what it signs. */
export function createDownloadSigner(settings: {
  client: S3Client
  sandboxBucket: string
  documentsBucket: string
}): DownloadSigner {
  const sign = (Bucket: string, { objectKey, ...download }: SignedDownload, { from, until }: UrlLife) => {
    const command = new GetObjectCommand({
      Bucket,
      Key: objectKey,
      ResponseContentType: download.contentType,
      ResponseContentDisposition: download.contentDisposition,
      ResponseContentEncoding: download.contentEncoding,
      ResponseCacheControl: 'private, no-store',
    })
    const expiresIn = (until.getTime() - from.getTime()) / 1000
    return getSignedUrl(settings.client, command, { signingDate: from, expiresIn })
  }
  return {
    signDocument: (download, life) => sign(settings.documentsBucket, download, life),
    signContainerFile: (download, life) => sign(settings.sandboxBucket, download, life),
  }
}
