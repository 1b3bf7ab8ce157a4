import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3'
import type { ContainerFile, ObjectStore } from '../promotion/ports.ts'
import { callAws, statusOf } from './call-aws.ts'
import { copyObject, type ObjectCopySettings } from './object-copy.ts'

const REQUEST_TIMEOUT_MS = 3000
/** S3 user guide, "Working with archived objects": these must be restored before they can be read or copied. */
const ARCHIVE_CLASSES = new Set(['GLACIER', 'DEEP_ARCHIVE'])

/** The sandboxes and the documents in S3. */
export function createObjectStore(settings: ObjectCopySettings): ObjectStore {
  const { client, sandboxBucket, documentsBucket } = settings
  const options = (signal: AbortSignal) => ({ abortSignal: signal, requestTimeout: REQUEST_TIMEOUT_MS })

  return {
    async findContainerFile(objectKey, signal) {
      try {
        const head = await callAws(signal, () =>
          client.send(new HeadObjectCommand({ Bucket: sandboxBucket, Key: objectKey }), options(signal)),
        )
        return toContainerFile(objectKey, head)
      } catch (error) {
        if (statusOf(error) === 404) return undefined
        throw error
      }
    },

    async hasContainer(keyPrefix, signal) {
      const list = await callAws(signal, () =>
        client.send(
          new ListObjectsV2Command({ Bucket: sandboxBucket, Prefix: keyPrefix, MaxKeys: 1 }),
          options(signal),
        ),
      )
      return (list.Contents?.length ?? 0) > 0
    },

    copy: (request, signal) => copyObject(request, settings, signal),

    async discard(targetKey, signal) {
      // Uploads first: one that is completed in between leaves an object, which goes next.
      for (const uploadId of await listUploads(targetKey, signal)) await abortUpload(targetKey, uploadId, signal)
      await callAws(signal, () =>
        client.send(new DeleteObjectCommand({ Bucket: documentsBucket, Key: targetKey }), options(signal)),
      )
    },
  }

  /** Upload ids under this very key: an attempt has one, or two when the answer to creating the first was lost. */
  async function listUploads(targetKey: string, signal: AbortSignal): Promise<string[]> {
    const list = await callAws(signal, () =>
      client.send(new ListMultipartUploadsCommand({ Bucket: documentsBucket, Prefix: targetKey }), options(signal)),
    )
    const uploads = list.Uploads?.filter((upload) => upload.Key === targetKey) ?? []
    return uploads.flatMap((upload) => upload.UploadId ?? [])
  }

  async function abortUpload(Key: string, UploadId: string, signal: AbortSignal): Promise<void> {
    try {
      await callAws(signal, () =>
        client.send(new AbortMultipartUploadCommand({ Bucket: documentsBucket, Key, UploadId }), options(signal)),
      )
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'NoSuchUpload') throw error
    }
  }
}

function toContainerFile(objectKey: string, head: HeadObjectCommandOutput): ContainerFile {
  if (head.ContentLength === undefined || head.ETag === undefined) {
    throw new Error('S3 answered HeadObject without a length or an ETag')
  }
  const isRestored = head.Restore?.includes('ongoing-request="false"') ?? false
  return {
    objectKey,
    sizeBytes: head.ContentLength,
    etag: head.ETag,
    contentType: head.ContentType,
    contentEncoding: head.ContentEncoding,
    contentLanguage: head.ContentLanguage,
    isArchived: (head.ArchiveStatus !== undefined || ARCHIVE_CLASSES.has(head.StorageClass ?? '')) && !isRestored,
  }
}
