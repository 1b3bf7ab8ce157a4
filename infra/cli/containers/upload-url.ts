import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { formatFileId } from '../../../lib/ids.ts'
import { expiresAtOf } from '../../../lib/ledger/expiry.ts'
import type { Session } from '../session.ts'
import { quoted, time } from '../terminal/output.ts'
import { requireUsable } from './local-files.ts'
import type { Container } from './open-container.ts'

export async function printUploadUrl(
  { output }: Session,
  container: Container,
  path: string,
  options: { for: number },
) {
  const { bucket: Bucket, prefix, stores, ids } = container
  const { maxFileBytes, s3ForcePathStyle: forcePathStyle } = stores.config
  requireUsable({ file: path, path, sizeBytes: 0 }, prefix, maxFileBytes)
  const expiresAt = expiresAtOf(new Date(), options.for)
  // Otherwise the URL would have the checksum of no bytes.
  const s3 = new S3Client({ forcePathStyle, requestChecksumCalculation: 'WHEN_REQUIRED' })
  const put = new PutObjectCommand({ Bucket, Key: prefix + path })
  const url = await getSignedUrl(s3, put, { expiresIn: options.for })
  const fileId = formatFileId(path)
  output.print(`curl -fT FILE ${quoted(url)}`, { ...ids, path, fileId, url, expiresAt })
  output.note(`FILE stands for the file that is uploaded, until ${time(expiresAt)}. Its id: ${fileId}.`)
}
