import { type Reason, ServiceError } from '../../errors.ts'
import type { CopyRequest } from '../../promotion/ports/object-store.ts'
import { statusOf } from '../calls/failures.ts'
import { readStart } from './container-file.ts'
import { ONLY_NEW, type ServerSideCopy, type ServerSideCopySettings } from './copy-requests.ts'
import { sha256In } from './head-object.ts'
import { copyServerSide } from './server-side-copy.ts'

export interface ObjectCopySettings extends ServerSideCopySettings {
  sandboxBucket: string
  documentsBucket: string
}

/** S3 names KMS's own errors so: the key is disabled, awaits its deletion, is gone or out of reach. */
export const KMS_FAILURE = /^KMS\./

/** A server-side copy. @throws ServiceError container_file_changed, container_file_archived, container_file_encrypted */
export async function copyObject(request: CopyRequest, settings: ObjectCopySettings, signal: AbortSignal) {
  const { source, objectKey, mimeType } = request
  const { contentEncoding, contentLanguage: ContentLanguage } = source
  const copy: ServerSideCopy = {
    source: { ...source, bucket: settings.sandboxBucket },
    target: { Bucket: settings.documentsBucket, Key: objectKey },
    // Nobody but this attempt writes the key: what is there can only be its own.
    condition: ONLY_NEW,
    headers: { ContentType: mimeType, ContentEncoding: contentEncoding || undefined, ContentLanguage },
    isArrived: ({ ContentLength }) => ContentLength === source.sizeBytes,
  }
  try {
    const copied = await copyServerSide(copy, settings, signal)
    return { sha256: sha256In(copied), versionId: copied.VersionId }
  } catch (error) {
    throw await translateCopyFailure(error, () => readStart(settings, source, 1, signal))
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
