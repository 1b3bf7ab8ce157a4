import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import type { ContainerFile, DocumentObjectOverview, ObjectStore } from '../promotion/ports.ts'
import { callAws, iterateAws, statusOf } from './call-aws.ts'
import { isMissing } from './missing-object.ts'
import { copyObject, type ObjectCopySettings } from './object-copy.ts'

const REQUEST_TIMEOUT_MS = 3000
/** S3 user guide, "Working with archived objects": these must be restored before they can be read or copied. */
const ARCHIVE_CLASSES = new Set(['GLACIER', 'DEEP_ARCHIVE'])

interface UploadMarkers {
  KeyMarker?: string | undefined
  UploadIdMarker?: string | undefined
}

interface ObjectStoreSettings extends ObjectCopySettings {
  /** Told when S3 answered 403, not 404, for a key that is not there. */
  onRefusedMissingKey?(): void
}

/** The sandboxes and the documents in S3. */
export function createObjectStore(settings: ObjectStoreSettings): ObjectStore & DocumentObjectOverview {
  const { client, sandboxBucket, documentsBucket } = settings
  const options = (signal: AbortSignal) => ({ abortSignal: signal, requestTimeout: REQUEST_TIMEOUT_MS })

  return {
    async findContainerFile(objectKey, signal) {
      const head = await headObject(sandboxBucket, objectKey, signal)
      return head && toContainerFile(objectKey, head)
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

    copy: (request, signal) => copyObject(request, settings, abortUploads, signal),

    async discard(targetKey, signal) {
      // Uploads first: one that is completed in between leaves an object, which goes next.
      await abortUploads(targetKey, signal)
      await callAws(signal, () =>
        client.send(new DeleteObjectCommand({ Bucket: documentsBucket, Key: targetKey }), options(signal)),
      )
    },

    async *listObjects(keyPrefix, signal) {
      const query = { Bucket: documentsBucket, Prefix: keyPrefix }
      const pages = paginateListObjectsV2({ client }, query, options(signal))
      for await (const { Contents = [] } of iterateAws(signal, pages)) {
        for (const { Key, Size } of Contents) if (Key !== undefined) yield { objectKey: Key, sizeBytes: Size ?? 0 }
      }
    },

    async *listPrefixes(keyPrefix, signal) {
      const query = { Bucket: documentsBucket, Prefix: keyPrefix, Delimiter: '/' }
      const pages = paginateListObjectsV2({ client }, query, options(signal))
      for await (const { CommonPrefixes = [] } of iterateAws(signal, pages)) {
        for (const { Prefix } of CommonPrefixes) if (Prefix !== undefined) yield Prefix
      }
    },

    listUploads: unfinishedUploads,
    abortUploads: (objectKey, signal) => abortUploads(objectKey, signal),

    hasObject: async (objectKey, signal) => (await headObject(documentsBucket, objectKey, signal)) !== undefined,
  }

  /** @returns undefined when there is no such object */
  async function headObject(Bucket: string, Key: string, signal: AbortSignal) {
    try {
      return await callAws(signal, () => client.send(new HeadObjectCommand({ Bucket, Key }), options(signal)))
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      const object = { client, bucket: Bucket, objectKey: Key, requestTimeoutMs: REQUEST_TIMEOUT_MS }
      if (statusOf(error) !== 403 || !(await isMissing(object, signal))) throw error
      settings.onRefusedMissingKey?.()
      return undefined
    }
  }

  async function abortUploads(targetKey: string, signal: AbortSignal, except?: string): Promise<void> {
    for await (const { objectKey, uploadId } of unfinishedUploads(targetKey, signal)) {
      if (objectKey === targetKey && uploadId !== except) await abortUpload(targetKey, uploadId, signal)
    }
  }

  async function* unfinishedUploads(keyPrefix: string, signal: AbortSignal) {
    let markers: UploadMarkers | undefined = {}
    while (markers) {
      const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
        Bucket: documentsBucket,
        Prefix: keyPrefix,
        ...markers,
      })
      const list: ListMultipartUploadsCommandOutput = await callAws(signal, () => client.send(command, options(signal)))
      for (const { Key: objectKey, UploadId: uploadId, Initiated } of list.Uploads ?? []) {
        if (objectKey && uploadId) yield { objectKey, uploadId, startedAtMs: Initiated?.getTime() ?? 0 }
      }
      markers = list.IsTruncated
        ? { KeyMarker: list.NextKeyMarker, UploadIdMarker: list.NextUploadIdMarker }
        : undefined
    }
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
