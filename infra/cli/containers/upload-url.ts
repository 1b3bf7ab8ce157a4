import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { type ContainerId, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { wrongUsage } from '../command-error.ts'
import type { Session } from '../session.ts'
import { exactBytes, quoted, time } from '../terminal/output.ts'
import { openContainer } from './container-files.ts'
import { requireUsable } from './local-files.ts'

const DEFAULT_MAX_BYTES = 100 * 1024 ** 2
/** S3 API Reference, "POST Object": in a key, it puts the name of the uploader's file here. */
const S3_PLACEHOLDER = /\$\{filename\}/

export async function printUploadUrl(
  session: Session,
  containerId: ContainerId,
  path: string,
  { workspace, for: lifeMs, ...limit }: { workspace?: WorkspaceId; for: number; maxBytes?: number },
): Promise<void> {
  if (S3_PLACEHOLDER.test(path)) throw wrongUsage(`"${path}" means something else in a form of S3`)
  const { bucket, prefix, stores, ids } = await openContainer(session, containerId, workspace)
  const { maxFileBytes } = stores.config
  const maxBytes = limit.maxBytes ?? Math.min(DEFAULT_MAX_BYTES, maxFileBytes)
  requireUsable([{ file: path, path, sizeBytes: maxBytes }], prefix, maxFileBytes)
  const expiresAt = new Date(Date.now() + lifeMs)
  const { url, fields } = await createPresignedPost(stores.s3, {
    ...{ Bucket: bucket, Key: prefix + path, Expires: Math.floor(lifeMs / 1000) },
    Conditions: [['content-length-range', 0, maxBytes]],
  })
  const flags = Object.entries(fields).map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`)
  const line = ['curl -f', ...flags, '-F file=@FILE', quoted(url)].join(' \\\n  ')
  const fileId = formatFileId(path)
  session.output.print(line, { ...ids, path, fileId, url, fields, maxBytes, expiresAt })
  const limits = `up to ${exactBytes(maxBytes)}, until ${time(expiresAt.getTime())}`
  session.output.note(`FILE stands for the file that is uploaded, ${limits}. Its id: ${fileId}.`)
}
