import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { formatFileId } from '../../../lib/ids.ts'
import { expiresAtOf } from '../../../lib/ledger/expiry.ts'
import { wrongUsage } from '../command-error.ts'
import type { Session } from '../session.ts'
import { exactBytes, quoted, time } from '../terminal/output.ts'
import { requireUsable } from './local-files.ts'
import type { Container } from './open-container.ts'

type Options = { for: number; maxBytes?: number }

export async function printUploadUrl({ output }: Session, container: Container, path: string, options: Options) {
  // S3 API Reference, "POST Object": in a key, it puts the name of the uploader's file here.
  if (/\$\{filename\}/.test(path)) throw wrongUsage(`"${path}" means something else in a form of S3`)
  const { bucket: Bucket, prefix, stores, ids } = container
  const { maxFileBytes } = stores.config
  const { for: lifeSeconds, maxBytes = Math.min(100 * 1024 ** 2, maxFileBytes) } = options
  requireUsable({ file: path, path, sizeBytes: maxBytes }, prefix, maxFileBytes)
  const expiresAt = expiresAtOf(new Date(), lifeSeconds)
  const { url, fields } = await createPresignedPost(stores.s3, {
    ...{ Bucket, Key: prefix + path, Expires: lifeSeconds },
    Conditions: [['content-length-range', 0, maxBytes]],
  })
  const flags = Object.entries(fields).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`)
  const line = ['curl -f', ...flags, '-F file=@FILE', quoted(url)].join(' \\\n  ')
  const fileId = formatFileId(path)
  output.print(line, { ...ids, path, fileId, url, fields, maxBytes, expiresAt })
  const limits = `up to ${exactBytes(maxBytes)}, until ${time(expiresAt)}`
  output.note(`FILE stands for the file that is uploaded, ${limits}. Its id: ${fileId}.`)
}
