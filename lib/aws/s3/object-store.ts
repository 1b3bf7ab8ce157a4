import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import type { ObjectMaintenance } from '../../audit/ports/object-maintenance.ts'
import type { ObjectStore } from '../../promotion/ports/object-store.ts'
import { send } from '../calls/send.ts'
import { createContainerLookups, readStart, type SandboxSettings } from './container-file.ts'
import { copiesWhole } from './copy-requests.ts'
import { callOptions, headOrList, sha256In } from './head-object.ts'
import { copyObject, type ObjectCopySettings } from './object-copy.ts'

export function createObjectStore(settings: ObjectCopySettings & SandboxSettings): ObjectStore & ObjectMaintenance {
  const { client, documentsBucket } = settings

  return {
    ...createContainerLookups(settings),

    readStart: (file, sizeBytes, signal) => readStart(settings, file, sizeBytes, signal),

    copiesWhole: (sizeBytes) => copiesWhole(sizeBytes, settings),

    copy: (request, signal) => copyObject(request, settings, signal),

    async discard({ objectKey, versionId: VersionId, sizeBytes }, signal) {
      // Uploads first: one that is completed meanwhile leaves an object, which is deleted next.
      if (sizeBytes === undefined || !copiesWhole(sizeBytes, settings)) await abortUploads(objectKey, signal)
      const command = new DeleteObjectCommand({ Bucket: documentsBucket, Key: objectKey, VersionId })
      await send(client, command, callOptions('DeleteObject', signal))
    },

    async *listObjects(keyPrefix, signal, afterKey) {
      for await (const { Contents = [] } of pages({ Prefix: keyPrefix, StartAfter: afterKey }, signal)) {
        for (const { Key, Size } of Contents) if (Key !== undefined) yield { objectKey: Key, sizeBytes: Size ?? 0 }
      }
    },

    async *listPrefixes(keyPrefix, signal, afterPrefix) {
      const query = { Prefix: keyPrefix, Delimiter: '/', StartAfter: afterPrefix && behindFolder(afterPrefix) }
      for await (const { CommonPrefixes = [] } of pages(query, signal)) {
        for (const { Prefix } of CommonPrefixes) if (Prefix !== undefined) yield Prefix
      }
    },

    listUploads: unfinishedUploads,
    abortUploads,

    async describeObject(Key, signal) {
      const head = await headOrList(client, { Bucket: documentsBucket, Key, ChecksumMode: 'ENABLED' }, signal)
      return head && { sizeBytes: head.ContentLength ?? 0, sha256: sha256In(head) }
    },

    async hasObject(objectKey, signal) {
      return (await headOrList(client, { Bucket: documentsBucket, Key: objectKey }, signal)) !== undefined
    },
  }

  async function* pages(query: Omit<ListObjectsV2CommandInput, 'Bucket'>, signal: AbortSignal) {
    let ContinuationToken: string | undefined
    do {
      const command = new ListObjectsV2Command({ Bucket: documentsBucket, ...query, ContinuationToken })
      const page: ListObjectsV2CommandOutput = await send(client, command, callOptions('ListObjectsV2', signal))
      yield page
      ContinuationToken = page.NextContinuationToken
    } while (ContinuationToken)
  }

  async function abortUploads(objectKey: string, signal: AbortSignal): Promise<void> {
    for await (const upload of unfinishedUploads(objectKey, signal)) {
      if (upload.objectKey !== objectKey) continue
      const named = { Bucket: documentsBucket, Key: objectKey, UploadId: upload.uploadId }
      try {
        await send(client, new AbortMultipartUploadCommand(named), callOptions('AbortMultipartUpload', signal))
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'NoSuchUpload') throw error
      }
    }
  }

  async function* unfinishedUploads(keyPrefix: string, signal: AbortSignal) {
    let markers: Partial<ListMultipartUploadsCommandInput> | undefined = {}
    while (markers) {
      const query = { Bucket: documentsBucket, Prefix: keyPrefix, ...markers }
      const sent = send(client, new ListMultipartUploadsCommand(query), callOptions('ListMultipartUploads', signal))
      const list: ListMultipartUploadsCommandOutput = await sent
      for (const { Key: objectKey, UploadId: uploadId } of list.Uploads ?? []) {
        if (objectKey && uploadId) yield { objectKey, uploadId }
      }
      const next = { KeyMarker: list.NextKeyMarker, UploadIdMarker: list.NextUploadIdMarker }
      markers = list.IsTruncated ? next : undefined
    }
  }
}

/** Greater than all keys of a folder: `0` is the character after `/`. */
const behindFolder = (prefix: string) => prefix.replace(/\/$/, '0')
