import { createHash } from 'node:crypto'
import type { ObjectMaintenance, UnfinishedUpload } from '../../../lib/audit/ports/object-maintenance.ts'
import type { ContainerFile, ContainerFiles } from '../../../lib/containers/container-files.ts'
import type { DocumentObjects } from '../../../lib/documents/download-document.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { ObjectStore } from '../../../lib/promotion/ports/object-store.ts'

export interface StoredObject {
  bytes: Buffer
  contentType: string | undefined
  contentEncoding?: string | undefined
  storageClass?: string | undefined
  modifiedAt?: Date
}

interface FakeObjectStore extends ObjectStore, ObjectMaintenance, ContainerFiles, DocumentObjects {
  uploads: UnfinishedUpload[]
  sandbox: Map<string, StoredObject>
  documents: Map<string, StoredObject>
}

export function createFakeObjectStore(): FakeObjectStore {
  const sandbox = new Map<string, StoredObject>()
  const documents = new Map<string, StoredObject>()
  const lookUp = (objectKey: string): ContainerFile | undefined => {
    const object = sandbox.get(objectKey)
    if (!object) return undefined
    return {
      objectKey,
      sizeBytes: object.bytes.length,
      etag: `"${createHash('md5').update(object.bytes).digest('hex')}"`,
      contentType: object.contentType ?? 'binary/octet-stream',
      contentEncoding: object.contentEncoding,
      contentLanguage: undefined,
      isArchived: object.storageClass === 'GLACIER',
      modifiedAt: object.modifiedAt ?? new Date('2026-11-21T09:38:35.000Z'),
    }
  }
  const uploads: UnfinishedUpload[] = []
  return {
    uploads,
    sandbox,
    documents,
    findContainerFile: async (objectKey) => lookUp(objectKey),
    hasContainer: async (keyPrefix) => [...sandbox.keys()].some((key) => key.startsWith(keyPrefix)),
    readStart: async ({ objectKey }, sizeBytes) =>
      sandbox.get(objectKey)?.bytes.subarray(0, sizeBytes) ?? new Uint8Array(),
    copiesWhole: () => true,
    async *listContainerFiles({ keyPrefix, afterKey = '', firstPage }) {
      const wanted = [...sandbox.keys()].filter((key) => key.startsWith(keyPrefix) && compareBytes(key, afterKey) > 0)
      const files = wanted.toSorted(compareBytes).flatMap((key) => lookUp(key) ?? [])
      yield { files: files.splice(0, firstPage), isLast: files.length === 0 }
      while (files.length > 0) yield { files: files.splice(0, 1000), isLast: files.length === 0 }
    },
    async findDocumentObject(objectKey) {
      const object = documents.get(objectKey)
      return object && { isArchived: object.storageClass === 'GLACIER' }
    },
    async copy({ source, objectKey, mimeType }) {
      const object = sandbox.get(source.objectKey)
      if (!object || lookUp(source.objectKey)?.etag !== source.etag) throw new ServiceError('container_file_changed')
      documents.set(objectKey, { ...object, contentType: mimeType })
      return { sha256: createHash('sha256').update(object.bytes).digest('hex') }
    },
    async discard(objectKey, signal) {
      await this.abortUploads(objectKey, signal)
      documents.delete(objectKey)
    },
    async abortUploads(objectKey) {
      const kept = uploads.filter((upload) => upload.objectKey !== objectKey)
      uploads.splice(0, uploads.length, ...kept)
    },
    async *listPrefixes(keyPrefix, _signal, afterPrefix = '') {
      const inside = [...documents.keys()].filter(
        (key) => key.startsWith(keyPrefix) && key.includes('/', keyPrefix.length),
      )
      const folders = inside.map((key) => key.slice(0, key.indexOf('/', keyPrefix.length) + 1))
      yield* [...new Set(folders)].toSorted(compareBytes).filter((folder) => compareBytes(folder, afterPrefix) > 0)
    },
    async *listObjects(keyPrefix, _signal, afterKey = '') {
      for (const objectKey of [...documents.keys()].toSorted(compareBytes)) {
        const object = documents.get(objectKey)
        const isBehind = compareBytes(objectKey, afterKey) > 0
        if (object && isBehind && objectKey.startsWith(keyPrefix)) yield { objectKey, sizeBytes: object.bytes.length }
      }
    },
    async *listUploads(keyPrefix, _signal, afterKey = '') {
      yield* uploads
        .filter(({ objectKey }) => objectKey.startsWith(keyPrefix) && compareBytes(objectKey, afterKey) > 0)
        .toSorted((a, b) => compareBytes(a.objectKey, b.objectKey))
    },
    async describeObject(objectKey) {
      const bytes = documents.get(objectKey)?.bytes
      return bytes && { sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
    },
    hasObject: async (objectKey) => documents.has(objectKey),
  }
}

/** As S3 orders keys. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
