import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../errors.ts'
import type { ContainerFile, CopyRequest } from '../promotion/ports.ts'
import { callAws, statusOf, wasRepeated, wasThrottled } from './call-aws.ts'
import { type CopySettings, MAX_PARALLEL_PARTS, partRange, planParts } from './copy-plan.ts'
import { inParallel } from './in-parallel.ts'

export interface ObjectCopySettings extends CopySettings {
  client: S3Client
  sandboxBucket: string
  documentsBucket: string
}

/** Aborts the unfinished uploads of a key, but for one. */
export type AbortUploads = (targetKey: string, signal: AbortSignal, except?: string) => Promise<void>

/** Creating, completing and looking at an upload. */
const SHORT_REQUEST_TIMEOUT_MS = 5000
/** Completing an upload, and copying next to nothing. */
const COPY_REQUEST_TIMEOUT_MS = 8000
/** A fourth of the usual 70 MiB/s. */
const SLOWEST_BYTES_PER_MS = (17.5 * 1024 ** 2) / 1000

/** Server-side copy of the very bytes that were looked up: no byte passes through this process. */
export async function copyObject(
  request: CopyRequest,
  settings: ObjectCopySettings,
  abortUploads: AbortUploads,
  signal: AbortSignal,
): Promise<{ mayArriveLate: boolean }> {
  const plan = planParts(request.source.sizeBytes, settings)
  try {
    if (plan === undefined) return { mayArriveLate: await copyWhole(request, settings, signal) }
    await copyInParts(request, plan, settings, abortUploads, signal)
    // A completion that comes once more finds no upload any more.
    return { mayArriveLate: false }
  } catch (error) {
    throw translateCopyFailure(error)
  }
}

/** @returns whether it was sent more than once */
async function copyWhole(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal): Promise<boolean> {
  const copied = await callAws(signal, () =>
    settings.client.send(
      new CopyObjectCommand({
        ...pinnedSource(request.source, settings.sandboxBucket),
        Bucket: settings.documentsBucket,
        Key: request.targetKey,
        MetadataDirective: 'REPLACE',
        ...describingHeaders(request),
        // Tags and annotations are the container platform's, and copying them needs rights we do not want.
        TaggingDirective: 'REPLACE',
        AnnotationDirective: 'EXCLUDE',
      }),
      { abortSignal: signal, requestTimeout: copyTimeoutMs(request.source.sizeBytes) },
    ),
  )
  requireEtag(copied.CopyObjectResult, copied)
  return wasRepeated(copied)
}

async function copyInParts(
  request: CopyRequest,
  { partBytes, partCount }: { partBytes: number; partCount: number },
  settings: ObjectCopySettings,
  abortUploads: AbortUploads,
  signal: AbortSignal,
): Promise<void> {
  const { client, documentsBucket: Bucket } = settings
  const Key = request.targetKey
  const created = await callAws(signal, () =>
    client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...describingHeaders(request) }), {
      abortSignal: signal,
      requestTimeout: SHORT_REQUEST_TIMEOUT_MS,
    }),
  )
  const { UploadId } = created
  // The SDK asked more than once, so there may be another upload, whose id nobody was told.
  if (wasRepeated(created) && UploadId) await abortUploads(Key, signal, UploadId)
  const source = pinnedSource(request.source, settings.sandboxBucket)
  const copyPart = async (PartNumber: number, partSignal: AbortSignal): Promise<CompletedPart> => {
    const { firstByte, lastByte } = partRange(PartNumber, partBytes, request.source.sizeBytes)
    const copied = await callAws(signal, () =>
      client.send(
        new UploadPartCopyCommand({
          ...source,
          CopySourceRange: `bytes=${firstByte}-${lastByte}`,
          Bucket,
          Key,
          UploadId,
          PartNumber,
        }),
        { abortSignal: partSignal, requestTimeout: copyTimeoutMs(lastByte - firstByte) },
      ),
    )
    return { PartNumber, ETag: requireEtag(copied.CopyPartResult, copied) }
  }
  const pieces = { count: partCount, atOnce: MAX_PARALLEL_PARTS, isOverload: wasThrottled }
  const Parts = await inParallel(pieces, copyPart, signal)
  try {
    const completed = await callAws(signal, () =>
      client.send(
        new CompleteMultipartUploadCommand({
          Bucket,
          Key,
          UploadId,
          MultipartUpload: { Parts },
          // S3 compares it with the sum of the parts: an end-to-end check for free.
          MpuObjectSize: request.source.sizeBytes,
        }),
        { abortSignal: signal, requestTimeout: COPY_REQUEST_TIMEOUT_MS },
      ),
    )
    requireEtag(completed, completed)
  } catch (error) {
    if (!(await wasCompleted(error, request, settings, signal))) throw error
  }
}

/** A completion that is repeated because its answer was lost finds no upload any more: then the object tells. */
async function wasCompleted(
  error: unknown,
  request: CopyRequest,
  { client, documentsBucket }: ObjectCopySettings,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof Error) || error.name !== 'NoSuchUpload') return false
  try {
    const head = await callAws(signal, () =>
      client.send(new HeadObjectCommand({ Bucket: documentsBucket, Key: request.targetKey }), {
        abortSignal: signal,
        requestTimeout: SHORT_REQUEST_TIMEOUT_MS,
      }),
    )
    return head.ContentLength === request.source.sizeBytes
  } catch (headError) {
    if (statusOf(headError) === 404) return false
    throw headError
  }
}

function pinnedSource(source: ContainerFile, bucket: string) {
  return { CopySource: encodeCopySource(bucket, source.objectKey), CopySourceIfMatch: source.etag }
}

/** The SDK sends CopySource as it is: it must be URL-encoded here, segment by segment (S3 API, CopyObject). */
function encodeCopySource(bucket: string, key: string): string {
  const encode = (segment: string) =>
    encodeURIComponent(segment).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${bucket}/${key.split('/').map(encode).join('/')}`
}

function copyTimeoutMs(bytes: number): number {
  return Math.max(COPY_REQUEST_TIMEOUT_MS, Math.ceil(bytes / SLOWEST_BYTES_PER_MS))
}

/** What one must know to read the bytes. Other metadata of the sandbox does not travel. */
function describingHeaders({ source, mimeType }: CopyRequest) {
  return {
    ContentType: mimeType,
    ContentEncoding: source.contentEncoding,
    ContentLanguage: source.contentLanguage,
  }
}

/** S3 may answer 200 and still have failed; the SDK notices most of these bodies, the missing ETag tells the rest. */
function requireEtag(result: { ETag?: string | undefined } | undefined, answer: object): string {
  if (result?.ETag === undefined) {
    const cause = new Error('S3 answered a copy with 200 but without an ETag')
    throw new ServiceError('service_unavailable', { cause, isUnanswered: wasRepeated(answer) })
  }
  return result.ETag
}

function translateCopyFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error
  // An earlier try that was never answered may still write the object, whatever the last one was told.
  const options = { cause: error, isUnanswered: wasRepeated(error) }
  const isSourceChanged = statusOf(error) === 412 || error.name === 'NoSuchKey'
  if (isSourceChanged) return new ServiceError('container_file_changed', options)
  const isArchived = error.name === 'InvalidObjectState' || error.name === 'ObjectNotInActiveTierError'
  if (isArchived) return new ServiceError('container_file_archived', options)
  // Somebody aborted the upload under us: the attempt was given up.
  if (error.name === 'NoSuchUpload') return new ServiceError('promotion_timed_out', options)
  return options.isUnanswered ? new ServiceError('internal_error', options) : error
}
