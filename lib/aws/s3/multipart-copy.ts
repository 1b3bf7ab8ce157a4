import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import type { ContainerFile } from '../../containers/container-files.ts'
import { ServiceError } from '../../errors.ts'
import type { CopyRequest } from '../../promotion/ports/object-store.ts'
import { send } from '../calls/send.ts'
import { MAX_PARALLEL_PARTS, partRange } from './copy-plan.ts'
import {
  copyTimeoutMs,
  describingHeaders,
  findArrived,
  type ObjectCopySettings,
  ONLY_NEW,
  pinnedSource,
  requireEtag,
} from './copy-requests.ts'

const CREATE_TIMEOUT_MS = 5000
/** S3 may take only a few parts at once and refuse the others (503 SlowDown): they wait for those to end. */
const PATIENCE = { retryForMs: 20_000, longestPauseMs: 1600 } as const

interface Upload {
  Bucket: string
  Key: string
  UploadId: string
}

/** @returns the version of the object, in a versioned bucket */
export async function copyInParts(
  request: CopyRequest,
  plan: { partBytes: number; partCount: number },
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const upload = await createUpload(request, settings, signal)
  const parts = await copyParts(upload, request.source, plan, settings, signal)

  return completeUpload(upload, parts, request, settings, signal)
}

/**
 * When one part fails, the others are aborted, and all have ended before its failure is thrown: nothing is still running
 * when the caller aborts the upload.
 */
async function copyParts(
  upload: Upload,
  source: ContainerFile,
  { partBytes, partCount }: { partBytes: number; partCount: number },
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<CompletedPart[]> {
  const pinned = pinnedSource(source, settings)
  const failed = new AbortController()
  const partSignal = AbortSignal.any([signal, failed.signal])

  const copyPart = async (PartNumber: number): Promise<CompletedPart> => {
    const { firstByte, lastByte } = partRange(PartNumber, partBytes, source.sizeBytes)
    const CopySourceRange = `bytes=${firstByte}-${lastByte}`
    const command = new UploadPartCopyCommand({ ...upload, ...pinned, CopySourceRange, PartNumber })
    const requestTimeoutMs = copyTimeoutMs(lastByte - firstByte)
    // May be repeated: the same bytes go to the same place.
    const options = { name: 'UploadPartCopy', signal: partSignal, requestTimeoutMs, ...PATIENCE }
    try {
      const copied = await send(settings.client, command, options)
      return { PartNumber, ETag: requireEtag(copied.CopyPartResult) }
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }

  const numbers = Array.from({ length: partCount }, (_, index) => index + 1)
  try {
    return await pMap(numbers, copyPart, { concurrency: MAX_PARALLEL_PARTS, stopOnError: false })
  } catch {
    // The first failure, which all the others follow from.
    throw failed.signal.reason
  }
}

async function createUpload(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal): Promise<Upload> {
  const object = { Bucket: settings.documentsBucket, Key: request.objectKey }
  const command = new CreateMultipartUploadCommand({ ...object, ...describingHeaders(request) })
  const options = { name: 'CreateMultipartUpload', signal, startsCopy: true, requestTimeoutMs: CREATE_TIMEOUT_MS }
  const { UploadId } = await send(settings.client, command, options)
  if (UploadId) return { ...object, UploadId }
  throw new ServiceError('service_unavailable', { cause: new Error('S3 began an upload but did not name it') })
}

/**
 * Makes the object appear. S3 may take minutes, so it gets all the time of the request. It is sent again only after an
 * error answer; S3 may answer the repetition with 200, 412 or NoSuchUpload. If no answer comes, the object decides.
 */
async function completeUpload(
  upload: Upload,
  Parts: CompletedPart[],
  request: CopyRequest,
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const command = new CompleteMultipartUploadCommand({
    ...upload,
    ...ONLY_NEW,
    MultipartUpload: { Parts },
    // S3 compares it with the sum of the parts: an end-to-end check for free.
    MpuObjectSize: request.source.sizeBytes,
  })
  try {
    const options = { name: 'CompleteMultipartUpload', signal, startsCopy: true }
    const completed = await send(settings.client, command, options)
    requireEtag(completed)
    return completed.VersionId
  } catch (error) {
    const arrived = await findArrived(error, request, settings, signal)
    if (arrived === undefined) throw error
    return arrived.VersionId
  }
}
