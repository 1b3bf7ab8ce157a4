import type { CopyObjectCommandInput, HeadObjectCommandOutput, S3Client } from '@aws-sdk/client-s3'
import { escapeUriPath } from '@smithy/core/protocols'
import type { ContainerFile } from '../../containers/container-files.ts'
import { ServiceError } from '../../errors.ts'
import { statusOf } from '../calls/failures.ts'
import { type CopySettings, planParts } from './copy-plan.ts'
import { headObject } from './head-object.ts'

export interface ServerSideCopySettings extends CopySettings {
  client: S3Client
}

export interface ServerSideCopy {
  source: Pick<ContainerFile, 'objectKey' | 'versionId' | 'etag' | 'sizeBytes'> & { bucket: string }
  target: { Bucket: string; Key: string }
  /** S3 judges it when it writes, however late that is. */
  condition: typeof ONLY_NEW | { IfMatch: string }
  /** The metadata that readers of the bytes need; the source's own is left behind. */
  headers: Pick<CopyObjectCommandInput, 'ContentType' | 'ContentEncoding' | 'ContentLanguage' | 'Metadata'>
  /** Whether what is at the target was written by this copy, by an earlier try (see requireArrived). */
  isArrived(head: HeadObjectCommandOutput): boolean
  /** Called with the upload that a copy in parts begins. */
  onUpload?(upload: Upload): void
}

export type Upload = ServerSideCopy['target'] & { UploadId: string }

/** What S3 tells of the copy; of one in parts, not when it was modified. */
export type CopiedObject = Pick<HeadObjectCommandOutput, 'ETag' | 'ChecksumSHA256' | 'VersionId' | 'LastModified'>

export const ONLY_NEW = { IfNoneMatch: '*' } as const

const LEAST_COPY_TIMEOUT_MS = 8000
/** A quarter of the usual 70 MiB/s. */
const SLOWEST_BYTES_PER_MS = (17.5 * 1024 ** 2) / 1000

export const copyTimeoutMs = (bytes: number) => Math.max(LEAST_COPY_TIMEOUT_MS, Math.ceil(bytes / SLOWEST_BYTES_PER_MS))

/** Whether a file of this size is copied whole: S3 tells no SHA-256 of a copy in parts. */
export const copiesWhole = (sizeBytes: number, settings: CopySettings) => planParts(sizeBytes, settings) === undefined

/** Exactly the bytes that were looked up. The SDK sends CopySource as it is, so it is encoded here (S3 API, CopyObject). */
export function pinnedSource({ bucket, objectKey, versionId, etag }: ServerSideCopy['source']) {
  const version = versionId === undefined ? '' : `?versionId=${encodeURIComponent(versionId)}`
  return { CopySource: `${bucket}/${escapeUriPath(objectKey)}${version}`, CopySourceIfMatch: etag }
}

/** S3 may answer 200 although the copy failed. The SDK recognises most such bodies; a missing ETag reveals the rest. */
export function requireEtag(result: { ETag?: string | undefined } | undefined): string {
  if (result?.ETag !== undefined) return result.ETag
  const cause = new Error('S3 answered a copy with 200 but without an ETag')
  throw new ServiceError('service_unavailable', { cause })
}

/** What S3 answered: a failure after one that may be late comes wrapped (send.ts). */
export const failureOf = (error: unknown) => (error instanceof ServiceError ? error.cause : error)

/**
 * The object that exists although its copy or completion failed with `error`: the answer was lost, or S3 refused the
 * next try (412, 409). A try without an answer is the last (send.ts), so what exists is complete.
 * @throws `error` if there is none
 */
export async function requireArrived(error: unknown, copy: ServerSideCopy, client: S3Client, signal: AbortSignal) {
  const isUnanswered = error instanceof ServiceError && error.isUnanswered
  const cause = failureOf(error)
  const isUploadGone = cause instanceof Error && cause.name === 'NoSuchUpload'
  const isRefused = statusOf(cause) === 412 || statusOf(cause) === 409
  if (!isUnanswered && !isUploadGone && !isRefused) throw error
  // A HeadObject that fails proves nothing: the error of the copy stands.
  const head = await headObject(client, { ...copy.target, ChecksumMode: 'ENABLED' }, signal).catch(() => undefined)
  if (head && copy.isArrived(head)) return head
  throw error
}
