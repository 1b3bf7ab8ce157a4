import { AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { type ContainerFileWriter, quotedEtag } from '../../containers/container-files.ts'
import { ServiceError } from '../../errors.ts'
import type { RequestScope } from '../../telemetry.ts'
import { statusOf } from '../calls/failures.ts'
import { send } from '../calls/send.ts'
import { createContainerLookups, metadataOf, type SandboxSettings, toContainerFile } from './container-file.ts'
import { copiesWhole, failureOf, ONLY_NEW, requireEtag, type ServerSideCopy, type Upload } from './copy-requests.ts'
import { callOptions } from './head-object.ts'
import { KMS_FAILURE, type ObjectCopySettings } from './object-copy.ts'
import { copyServerSide } from './server-side-copy.ts'

export function createContainerFileWriter(settings: ObjectCopySettings & SandboxSettings): ContainerFileWriter {
  const { client, sandboxBucket, documentsBucket } = settings
  const { findContainerFile } = createContainerLookups(settings)

  return {
    copiesWhole: (sizeBytes) => copiesWhole(sizeBytes, settings),

    async write({ document, object, objectKey, restoredFrom, over, isOwn }, { deadline, log }) {
      let upload: Upload | undefined
      const copy: ServerSideCopy = {
        source: { ...document, bucket: documentsBucket, etag: object.etag },
        target: { Bucket: sandboxBucket, Key: objectKey },
        condition: over ? { IfMatch: over.etag } : ONLY_NEW,
        headers: {
          ContentType: document.mimeType,
          ContentEncoding: document.contentEncoding,
          ContentLanguage: object.contentLanguage,
          Metadata: metadataOf(restoredFrom),
        },
        isArrived: (head) => isOwn(toContainerFile(objectKey, head)),
        onUpload: (begun) => {
          upload = begun
        },
      }
      const copied = await copyServerSide(copy, settings, deadline.signal).catch(async (error) => {
        // What cannot be aborted is ended by the bucket's rule for unfinished uploads.
        if (upload) await abort(upload, deadline).catch((failure) => log.warn('upload not aborted', { error: failure }))
        if (isOvertaken(error)) return undefined
        throw translateFailure(error)
      })
      if (copied === undefined) return undefined
      const etag = quotedEtag(requireEtag(copied))
      // S3 does not tell when a copy in parts was modified; and the agent may have written another file by now.
      const found = copied.LastModified ? undefined : await findContainerFile(objectKey, deadline.signal)
      return { etag, modifiedAt: copied.LastModified ?? (found?.etag === etag ? found.modifiedAt : new Date()) }
    },
  }

  async function abort(upload: Upload, deadline: RequestScope['deadline']): Promise<void> {
    const options = callOptions('AbortMultipartUpload', deadline.undoSignal())
    await send(client, new AbortMultipartUploadCommand(upload), options)
  }
}

/** The file or the document has changed, or is gone; or somebody else writes the file at this moment. */
function isOvertaken(error: unknown): boolean {
  const cause = failureOf(error)
  const isGone = cause instanceof Error && /^NoSuch(Key|Version|Upload)$/.test(cause.name)
  return isGone || statusOf(cause) === 412 || statusOf(cause) === 409
}

function translateFailure(error: unknown): unknown {
  const cause = failureOf(error)
  if (!(cause instanceof Error && KMS_FAILURE.test(cause.name))) return error
  const detail = 'A key that encrypts documents or sandboxes cannot be used.'
  return new ServiceError('service_unavailable', { detail, cause })
}
