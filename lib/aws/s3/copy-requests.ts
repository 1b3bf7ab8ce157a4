import type { HeadObjectCommandOutput, S3Client } from '@aws-sdk/client-s3'
import type { ContainerFile } from '../../containers/container-files.ts'
import { ServiceError } from '../../errors.ts'
import type { CopyRequest } from '../../promotion/ports/object-store.ts'
import { statusOf } from '../calls/failures.ts'
import type { CopySettings } from './copy-plan.ts'
import { headObject } from './head-object.ts'

export interface ObjectCopySettings extends CopySettings {
  client: S3Client
  sandboxBucket: string
  documentsBucket: string
}

const LEAST_COPY_TIMEOUT_MS = 8000
/** A quarter of the usual 70 MiB/s. */
const SLOWEST_BYTES_PER_MS = (17.5 * 1024 ** 2) / 1000

export function copyTimeoutMs(bytes: number): number {
  return Math.max(LEAST_COPY_TIMEOUT_MS, Math.ceil(bytes / SLOWEST_BYTES_PER_MS))
}

/** Exactly the bytes that were looked up. */
export function pinnedSource({ objectKey, versionId, etag }: ContainerFile, { sandboxBucket }: ObjectCopySettings) {
  const version = versionId === undefined ? '' : `?versionId=${encodeURIComponent(versionId)}`
  return { CopySource: `${encodeCopySource(sandboxBucket, objectKey)}${version}`, CopySourceIfMatch: etag }
}

/** Nobody but this attempt writes the key: what is there can only be its own, by an earlier try (see findArrived). */
export const ONLY_NEW = { IfNoneMatch: '*' } as const

/** The SDK sends CopySource as it is, so it is URL-encoded here, segment by segment (S3 API, CopyObject). */
function encodeCopySource(bucket: string, key: string): string {
  const encode = (segment: string) =>
    encodeURIComponent(segment).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${bucket}/${key.split('/').map(encode).join('/')}`
}

/** The metadata that readers of the bytes need; the rest is left behind in the sandbox. */
export function describingHeaders({ source, mimeType }: CopyRequest) {
  return {
    ContentType: mimeType,
    ContentEncoding: source.contentEncoding || undefined,
    ContentLanguage: source.contentLanguage,
  }
}

/** S3 may answer 200 although the copy failed. The SDK recognises most such bodies; a missing ETag reveals the rest. */
export function requireEtag(result: { ETag?: string | undefined } | undefined): string {
  if (result?.ETag !== undefined) return result.ETag
  const cause = new Error('S3 answered a copy with 200 but without an ETag')
  throw new ServiceError('service_unavailable', { cause })
}

/**
 * The object after a copy or completion that failed with `error`, if it exists all the same: the answer was lost, or S3
 * applied a try that it answered with an error, so that it refused the next one (412, 409). An unanswered try is never
 * repeated (send.ts) and nobody else writes the key, so what exists is complete.
 */
export async function findArrived(
  error: unknown,
  request: CopyRequest,
  { client, documentsBucket }: ObjectCopySettings,
  signal: AbortSignal,
): Promise<HeadObjectCommandOutput | undefined> {
  const isUnanswered = error instanceof ServiceError && error.isUnanswered
  const cause = error instanceof ServiceError ? error.cause : error
  const isUploadGone = cause instanceof Error && cause.name === 'NoSuchUpload'
  const isRefused = statusOf(cause) === 412 || statusOf(cause) === 409
  if (!isUnanswered && !isUploadGone && !isRefused) return undefined
  // A HeadObject that fails proves nothing: the error of the copy stands.
  const object = { Bucket: documentsBucket, Key: request.objectKey, ChecksumMode: 'ENABLED' } as const
  const head = await headObject(client, object, signal).catch(() => undefined)
  return head?.ContentLength === request.source.sizeBytes ? head : undefined
}
