import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import type { DocumentObjectOverview, ObjectStore } from '../promotion/ports.ts'
import { callAws, iterateAws } from './call-aws.ts'
import { createContainerFiles, headObject, REQUEST_TIMEOUT_MS } from './container-files.ts'
import { copyObject, type ObjectCopySettings } from './object-copy.ts'

interface UploadMarkers {
  KeyMarker?: string | undefined
  UploadIdMarker?: string | undefined
}

/** The sandboxes and the documents in S3. */
export function createObjectStore(settings: ObjectCopySettings): ObjectStore & DocumentObjectOverview {
  const { client, documentsBucket } = settings
  const options = (signal: AbortSignal) => ({ abortSignal: signal, requestTimeout: REQUEST_TIMEOUT_MS })

  return {
    ...createContainerFiles(settings),

    async copy(request, signal) {
      await copyObject(request, settings, abortUploads, signal)
    },

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

    hasObject: async (objectKey, signal) =>
      (await headObject(client, { Bucket: documentsBucket, Key: objectKey }, signal)) !== undefined,
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
