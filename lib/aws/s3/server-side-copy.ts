import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { ServiceError } from '../../errors.ts'
import { send } from '../calls/send.ts'
import { MAX_PARALLEL_PARTS, type PartPlan, partRange, planParts } from './copy-plan.ts'
import {
  type CopiedObject,
  copyTimeoutMs,
  pinnedSource,
  requireArrived,
  requireEtag,
  type ServerSideCopy,
  type ServerSideCopySettings,
  type Upload,
} from './copy-requests.ts'

const CREATE_TIMEOUT_MS = 5000
/** S3 may take only a few parts at once and refuse the others (503 SlowDown): they wait for those to end. */
const PATIENCE = { retryForMs: 20_000, longestPauseMs: 1600 } as const

/** Copies an object within S3, whole or in parts. A failure may leave parts behind. */
export async function copyServerSide(
  copy: ServerSideCopy,
  settings: ServerSideCopySettings,
  signal: AbortSignal,
): Promise<CopiedObject> {
  const { sizeBytes } = copy.source
  const plan = planParts(sizeBytes, settings)
  if (plan !== undefined) return copyInParts(copy, plan, settings.client, signal)
  const command = new CopyObjectCommand({
    ...pinnedSource(copy.source),
    ...copy.target,
    ...copy.condition,
    ChecksumAlgorithm: 'SHA256',
    MetadataDirective: 'REPLACE',
    ...copy.headers,
    // Tags and annotations belong to the container platform, and copying them takes permissions we do not want.
    TaggingDirective: 'REPLACE',
    AnnotationDirective: 'EXCLUDE',
  })
  const options = { name: 'CopyObject', signal, startsCopy: true, requestTimeoutMs: copyTimeoutMs(sizeBytes) }
  try {
    const copied = await send(settings.client, command, options)
    requireEtag(copied.CopyObjectResult)
    return { ...copied, ...copied.CopyObjectResult }
  } catch (error) {
    return requireArrived(error, copy, settings.client, signal)
  }
}

async function copyInParts(copy: ServerSideCopy, plan: PartPlan, client: S3Client, signal: AbortSignal) {
  const upload = await createUpload(copy, client, signal)
  copy.onUpload?.(upload)
  const Parts = await copyParts(upload, copy, plan, client, signal)

  // This makes the object appear. S3 may take minutes, so it gets all the time of the request. It is sent again only
  // after an error answer; S3 may answer the repetition with 200, 412 or NoSuchUpload.
  const command = new CompleteMultipartUploadCommand({
    ...upload,
    ...copy.condition,
    MultipartUpload: { Parts },
    // S3 compares it with the sum of the parts: an end-to-end check for free.
    MpuObjectSize: copy.source.sizeBytes,
  })
  try {
    const completed = await send(client, command, { name: 'CompleteMultipartUpload', signal, startsCopy: true })
    requireEtag(completed)
    return completed
  } catch (error) {
    return requireArrived(error, copy, client, signal)
  }
}

/**
 * When one part fails, the others are aborted, and all have ended before its failure is thrown: nothing is still running
 * when the caller aborts the upload.
 */
async function copyParts(upload: Upload, copy: ServerSideCopy, plan: PartPlan, client: S3Client, signal: AbortSignal) {
  const { source } = copy
  const { partBytes, partCount } = plan
  const pinned = pinnedSource(source)
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
      const copied = await send(client, command, options)
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

async function createUpload({ target, headers }: ServerSideCopy, client: S3Client, signal: AbortSignal) {
  const command = new CreateMultipartUploadCommand({ ...target, ...headers })
  const options = { name: 'CreateMultipartUpload', signal, startsCopy: true, requestTimeoutMs: CREATE_TIMEOUT_MS }
  const { UploadId } = await send(client, command, options)
  if (UploadId) return { ...target, UploadId }
  throw new ServiceError('service_unavailable', { cause: new Error('S3 began an upload but did not name it') })
}
