import {
  type _Object,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { ContainerFiles } from '../files/ports.ts'
import type { ContainerFile } from '../promotion/ports.ts'
import { callAws, iterateAws, statusOf } from './call-aws.ts'

/** Of calls that move no file. */
export const REQUEST_TIMEOUT_MS = 3000
/** S3 user guide, "Working with archived objects": these must be restored before they can be read or copied. */
const ARCHIVE_CLASSES = new Set(['GLACIER', 'DEEP_ARCHIVE'])

/** The sandboxes in S3, to read. */
export function createContainerFiles({
  client,
  sandboxBucket: Bucket,
}: {
  client: S3Client
  sandboxBucket: string
}): ContainerFiles {
  const options = (signal: AbortSignal) => ({ abortSignal: signal, requestTimeout: REQUEST_TIMEOUT_MS })
  return {
    async findContainerFile(objectKey, signal) {
      const head = await headObject(client, { Bucket, Key: objectKey }, signal)
      return head && toContainerFile(objectKey, head)
    },

    async hasContainer(keyPrefix, signal) {
      const command = new ListObjectsV2Command({ Bucket, Prefix: keyPrefix, MaxKeys: 1 })
      const list = await callAws(signal, () => client.send(command, options(signal)))
      return (list.Contents?.length ?? 0) > 0
    },

    async *listContainerFiles({ keyPrefix, afterKey, pageSize }, signal) {
      // Encoded, because a key may hold characters that XML cannot.
      const query = { Bucket, Prefix: keyPrefix, StartAfter: afterKey, MaxKeys: pageSize, EncodingType: 'url' } as const
      const pages = paginateListObjectsV2({ client }, query, options(signal))
      for await (const { Contents = [], EncodingType } of iterateAws(signal, pages)) {
        for (const object of Contents) yield toListedFile(object, EncodingType === 'url')
      }
    },
  }
}

/** @returns undefined when there is no such object */
export async function headObject(client: S3Client, object: { Bucket: string; Key: string }, signal: AbortSignal) {
  const options = { abortSignal: signal, requestTimeout: REQUEST_TIMEOUT_MS }
  try {
    return await callAws(signal, () => client.send(new HeadObjectCommand(object), options))
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

export function isArchived({ ArchiveStatus, StorageClass, Restore }: HeadObjectCommandOutput): boolean {
  const isRestored = Restore?.includes('ongoing-request="false"') ?? false
  return (ArchiveStatus !== undefined || ARCHIVE_CLASSES.has(StorageClass ?? '')) && !isRestored
}

function toContainerFile(objectKey: string, head: HeadObjectCommandOutput): ContainerFile {
  if (head.ContentLength === undefined || head.ETag === undefined) {
    throw new Error('S3 answered HeadObject without a length or an ETag')
  }
  return {
    objectKey,
    sizeBytes: head.ContentLength,
    etag: head.ETag,
    contentType: head.ContentType,
    contentEncoding: head.ContentEncoding,
    contentLanguage: head.ContentLanguage,
    isArchived: isArchived(head),
    modifiedAt: head.LastModified ?? new Date(0),
  }
}

function toListedFile({ Key = '', Size = 0, LastModified = new Date(0) }: _Object, isEncoded: boolean) {
  // As in a form (S3, "EncodingType"): a space may be a plus sign, and a plus sign never is one.
  const objectKey = isEncoded ? decodeURIComponent(Key.replaceAll('+', ' ')) : Key
  return { objectKey, sizeBytes: Size, modifiedAt: LastModified }
}
