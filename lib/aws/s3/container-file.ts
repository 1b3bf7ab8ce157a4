import { GetObjectCommand, type HeadObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3'
import {
  type ContainerFile,
  type ContainerLookups,
  quotedEtag,
  type RestoredFrom,
} from '../../containers/container-files.ts'
import { ServiceError } from '../../errors.ts'
import { type AttemptId, isDocumentId } from '../../ids.ts'
import { statusOf } from '../calls/failures.ts'
import { send } from '../calls/send.ts'
import { callOptions, firstKey, headOrList, sha256In } from './head-object.ts'

/** S3 user guide, "Working with archived objects": objects of these classes must be restored before they can be read. */
const ARCHIVE_CLASSES = new Set(['GLACIER', 'DEEP_ARCHIVE'])
/** Node.js sends headers as Latin-1, but the SDK signs them as UTF-8: with other characters the signature is wrong. */
const PLAIN_ASCII = /^[\x20-\x7e]*$/

export interface SandboxSettings {
  client: S3Client
  sandboxBucket: string
  /** Called when S3 answered 403 instead of 404 for a missing key. */
  onRefusedMissingKey?: (() => void) | undefined
}

export function createContainerLookups(settings: SandboxSettings): ContainerLookups {
  const { client, sandboxBucket: Bucket, onRefusedMissingKey } = settings
  return {
    async findContainerFile(objectKey, signal, options) {
      const object = { Bucket, Key: objectKey }
      try {
        const wanted = { ...object, ...(options && { ChecksumMode: 'ENABLED' as const }) }
        const head = await headOrList(client, wanted, signal, onRefusedMissingKey)
        return head && toContainerFile(objectKey, head)
      } catch (error) {
        // Answers to HeadObject have no body, so only another operation can tell the reason.
        if (statusOf(error) === 400 && (await hasUnusableKey(client, object, signal))) {
          throw new ServiceError('container_file_encrypted', { cause: error })
        }
        throw error
      }
    },

    async hasContainer(Prefix, signal) {
      return (await firstKey(client, { Bucket, Prefix }, signal)) !== undefined
    },
  }
}

/** Not repeated after a failure other than throttling: it only helps to find the type. */
export async function readStart(
  { client, sandboxBucket }: { client: S3Client; sandboxBucket: string },
  { objectKey, versionId, etag, sizeBytes }: ContainerFile,
  wantedBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // S3 refuses any range of an empty object.
  if (sizeBytes === 0) return new Uint8Array()
  const command = new GetObjectCommand({
    Bucket: sandboxBucket,
    Key: objectKey,
    VersionId: versionId,
    IfMatch: etag,
    Range: `bytes=0-${wantedBytes - 1}`,
  })
  const { Body } = await send(client, command, { ...callOptions('GetObject', signal), tries: 1 })
  return (await Body?.transformToByteArray()) ?? new Uint8Array()
}

/** Whether the file needs its writer's own key (SSE-C), or its KMS key fails. Unlike HeadObject, GetObject says why. */
async function hasUnusableKey(client: S3Client, object: { Bucket: string; Key: string }, signal: AbortSignal) {
  try {
    const command = new GetObjectCommand({ ...object, Range: 'bytes=0-0' })
    const { Body } = await send(client, command, callOptions('GetObject', signal))
    await Body?.transformToByteArray()
    return false
  } catch (error) {
    if (error instanceof ServiceError) throw error
    return /^InvalidRequest$|^KMS\./.test((error as Error).name)
  }
}

/** Headers that could not be sent again count as missing. */
export function toContainerFile(objectKey: string, head: HeadObjectCommandOutput): ContainerFile {
  if (head.ContentLength === undefined || head.ETag === undefined) {
    throw new Error('S3 answered HeadObject without a length or an ETag')
  }
  return {
    objectKey,
    sizeBytes: head.ContentLength,
    etag: quotedEtag(head.ETag),
    // "null" is what was written while the bucket was not versioned, or no longer: it is replaced like any object.
    versionId: head.VersionId === 'null' ? undefined : head.VersionId,
    contentType: onlyPlain(head.ContentType),
    contentEncoding: withoutFraming(onlyPlain(head.ContentEncoding)),
    contentLanguage: onlyPlain(head.ContentLanguage),
    isArchived: isArchived(head),
    modifiedAt: head.LastModified ?? new Date(0),
    restoredFrom: restoredFromIn(head),
    sha256: sha256In(head),
  }
}

export const metadataOf = ({ documentId, attemptId, fileId }: RestoredFrom) => ({
  ...{ 'document-id': documentId, 'attempt-id': attemptId, 'file-id': fileId },
})

function restoredFromIn({ Metadata = {} }: HeadObjectCommandOutput): RestoredFrom | undefined {
  const { 'document-id': documentId = '', 'attempt-id': attemptId = '', 'file-id': fileId = '' } = Metadata
  return isDocumentId(documentId) ? { documentId, attemptId: attemptId as AttemptId, fileId } : undefined
}

export function isArchived({ ArchiveStatus, StorageClass, Restore }: HeadObjectCommandOutput): boolean {
  const isRestored = Restore?.includes('ongoing-request="false"') ?? false
  return (ArchiveStatus !== undefined || ARCHIVE_CLASSES.has(StorageClass ?? '')) && !isRestored
}

const onlyPlain = (header: string | undefined) =>
  header !== undefined && PLAIN_ASCII.test(header) ? header : undefined

/** `aws-chunked` is the framing of an upload, which some clients and servers store with the encodings of the content. */
function withoutFraming(contentEncoding: string | undefined): string | undefined {
  const encodings = contentEncoding?.split(',').map((encoding) => encoding.trim())
  return encodings?.filter((encoding) => encoding !== '' && encoding.toLowerCase() !== 'aws-chunked').join(', ')
}
