import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../errors.ts'
import type { CopyRequest } from '../promotion/object-store.ts'
import { MAX_PARALLEL_PARTS, partRange } from './copy-plan.ts'
import {
  copyTimeoutMs,
  describingHeaders,
  findArrived,
  type ObjectCopySettings,
  pinnedSource,
  requireEtag,
  requireSameSource,
} from './copy-requests.ts'
import { inParallel } from './in-parallel.ts'
import { isThrottled, send } from './send.ts'

const CREATE_TIMEOUT_MS = 5000

interface Upload {
  Bucket: string
  Key: string
  UploadId: string
}

export async function copyInParts(
  request: CopyRequest,
  { partBytes, partCount }: { partBytes: number; partCount: number },
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<void> {
  const { source } = request
  const upload = await createUpload(request, settings, signal)

  const pinned = pinnedSource(source, settings)
  const copyPart = async (PartNumber: number, partSignal: AbortSignal): Promise<CompletedPart> => {
    const { firstByte, lastByte } = partRange(PartNumber, partBytes, source.sizeBytes)
    const CopySourceRange = `bytes=${firstByte}-${lastByte}`
    // May be repeated: the same bytes go to the same place.
    const copied = await send(
      settings.client,
      new UploadPartCopyCommand({ ...upload, ...pinned, CopySourceRange, PartNumber }),
      { name: 'UploadPartCopy', signal: partSignal, requestTimeoutMs: copyTimeoutMs(lastByte - firstByte) },
    )
    return { PartNumber, ETag: requireEtag(copied.CopyPartResult) }
  }
  const tasks = { count: partCount, concurrency: MAX_PARALLEL_PARTS, isOverload: isThrottled }
  const parts = await inParallel(tasks, copyPart, signal)

  // The completion's failure takes precedence: it may still have an effect.
  const ends = await Promise.allSettled([
    completeUpload(upload, parts, request, settings, signal),
    requireSameSource(source, settings, signal),
  ])
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function createUpload(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal): Promise<Upload> {
  const object = { Bucket: settings.documentsBucket, Key: request.targetKey }
  const { UploadId } = await send(
    settings.client,
    new CreateMultipartUploadCommand({ ...object, ...describingHeaders(request) }),
    { name: 'CreateMultipartUpload', signal, opens: true, requestTimeoutMs: CREATE_TIMEOUT_MS },
  )
  if (UploadId) return { ...object, UploadId }
  throw new ServiceError('service_unavailable', { cause: new Error('S3 began an upload but did not name it') })
}

/**
 * Makes the object appear. S3 may take minutes, so it gets all the time of the request. It is sent again only after an
 * error answer; S3 may answer the repetition with 200 or NoSuchUpload. If no answer comes, the object decides.
 */
async function completeUpload(
  upload: Upload,
  Parts: CompletedPart[],
  request: CopyRequest,
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<void> {
  const command = new CompleteMultipartUploadCommand({
    ...upload,
    MultipartUpload: { Parts },
    // S3 compares it with the sum of the parts: an end-to-end check for free.
    MpuObjectSize: request.source.sizeBytes,
  })
  try {
    requireEtag(await send(settings.client, command, { name: 'CompleteMultipartUpload', signal, opens: true }))
  } catch (error) {
    if ((await findArrived(error, request, settings, signal)) === undefined) throw error
  }
}
