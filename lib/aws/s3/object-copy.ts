import { CopyObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3'
import { type Reason, ServiceError } from '../../errors.ts'
import type { Copied, CopyRequest } from '../../promotion/ports/object-store.ts'
import { statusOf } from '../calls/failures.ts'
import { send } from '../calls/send.ts'
import { readStart } from './container-file.ts'
import { planParts } from './copy-plan.ts'
import {
  copyTimeoutMs,
  describingHeaders,
  findArrived,
  type ObjectCopySettings,
  ONLY_NEW,
  pinnedSource,
  requireEtag,
} from './copy-requests.ts'
import { sha256In } from './head-object.ts'
import { copyInParts } from './multipart-copy.ts'

/** S3 names KMS's own errors so: the key is disabled, awaits its deletion, is gone or out of reach. */
const KMS_FAILURE = /^KMS\./

/** A server-side copy. @throws ServiceError container_file_changed, container_file_archived, container_file_encrypted */
export async function copyObject(
  request: CopyRequest,
  settings: ObjectCopySettings,
  signal: AbortSignal,
): Promise<Copied> {
  const plan = planParts(request.source.sizeBytes, settings)
  try {
    if (plan === undefined) return await copyWhole(request, settings, signal)
    return { sha256: undefined, versionId: await copyInParts(request, plan, settings, signal) }
  } catch (error) {
    throw await translateCopyFailure(error, () => readStart(settings, request.source, 1, signal))
  }
}

async function copyWhole(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal): Promise<Copied> {
  const copied = await sendCopy(request, settings, signal)
  requireEtag(copied)
  return { sha256: sha256In(copied), versionId: copied.VersionId }
}

type Written = Pick<HeadObjectCommandOutput, 'ETag' | 'ChecksumSHA256' | 'VersionId'>

async function sendCopy(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal): Promise<Written> {
  const command = new CopyObjectCommand({
    ...pinnedSource(request.source, settings),
    Bucket: settings.documentsBucket,
    Key: request.objectKey,
    ...ONLY_NEW,
    ChecksumAlgorithm: 'SHA256',
    MetadataDirective: 'REPLACE',
    ...describingHeaders(request),
    // Tags and annotations belong to the container platform, and copying them takes permissions we do not want.
    TaggingDirective: 'REPLACE',
    AnnotationDirective: 'EXCLUDE',
  })
  const requestTimeoutMs = copyTimeoutMs(request.source.sizeBytes)
  try {
    const options = { name: 'CopyObject', signal, startsCopy: true, requestTimeoutMs }
    const copied = await send(settings.client, command, options)
    return { ...copied, ...copied.CopyObjectResult }
  } catch (error) {
    const arrived = await findArrived(error, request, settings, signal)
    if (arrived === undefined) throw error
    return arrived
  }
}

async function translateCopyFailure(error: unknown, readSource: () => Promise<unknown>): Promise<unknown> {
  const isUnanswered = error instanceof ServiceError && error.isUnanswered
  const cause = error instanceof ServiceError && error.reason === 'internal_error' ? error.cause : error
  if (!(cause instanceof Error) || cause instanceof ServiceError) return error
  const because = (reason: Reason, own = {}) => new ServiceError(reason, { ...own, cause, isUnanswered })
  const isSourceGone = cause.name === 'NoSuchKey' || cause.name === 'NoSuchVersion'
  if (statusOf(cause) === 412 || isSourceGone) return because('container_file_changed')
  const isArchived = cause.name === 'InvalidObjectState' || cause.name === 'ObjectNotInActiveTierError'
  if (isArchived) return because('container_file_archived')
  if (KMS_FAILURE.test(cause.name)) {
    // It may be the key of either bucket: only that of the source keeps us from reading.
    const read = await readSource().catch((failure: Error) => failure)
    if (read instanceof Error && KMS_FAILURE.test(read.name)) return because('container_file_encrypted')
    return because('service_unavailable', { detail: 'The key that encrypts documents cannot be used.' })
  }
  // Somebody aborted the upload meanwhile: the attempt is being undone.
  if (cause.name === 'NoSuchUpload') return because('request_timed_out')
  return error
}
