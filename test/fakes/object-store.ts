import { createHash } from 'node:crypto'
import { ServiceError } from '../../lib/errors.ts'
import type { ContainerFile, DocumentObjectOverview, ObjectStore, UnfinishedUpload } from '../../lib/promotion/ports.ts'

export interface StoredObject {
  bytes: Buffer
  contentType: string | undefined
  contentEncoding?: string | undefined
  storageClass?: string | undefined
}

export interface FakeObjectStore extends ObjectStore, DocumentObjectOverview {
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
    }
  }
  const uploads: UnfinishedUpload[] = []
  return {
    uploads,
    sandbox,
    documents,
    findContainerFile: async (objectKey) => lookUp(objectKey),
    hasContainer: async (keyPrefix) => [...sandbox.keys()].some((key) => key.startsWith(keyPrefix)),
    async copy({ source, targetKey, mimeType }) {
      const object = sandbox.get(source.objectKey)
      if (!object || lookUp(source.objectKey)?.etag !== source.etag) throw new ServiceError('container_file_changed')
      documents.set(targetKey, { ...object, contentType: mimeType })
    },
    async discard(targetKey, signal) {
      await this.abortUploads(targetKey, signal)
      documents.delete(targetKey)
    },
    async abortUploads(targetKey) {
      const kept = uploads.filter(({ objectKey }) => objectKey !== targetKey)
      uploads.splice(0, uploads.length, ...kept)
    },
    async *listPrefixes(keyPrefix) {
      const inside = [...documents.keys()].filter(
        (key) => key.startsWith(keyPrefix) && key.includes('/', keyPrefix.length),
      )
      yield* new Set(inside.toSorted().map((key) => key.slice(0, key.indexOf('/', keyPrefix.length) + 1)))
    },
    async *listObjects(keyPrefix) {
      for (const objectKey of [...documents.keys()].toSorted()) {
        const object = documents.get(objectKey)
        if (object && objectKey.startsWith(keyPrefix)) yield { objectKey, sizeBytes: object.bytes.length }
      }
    },
    async *listUploads(keyPrefix) {
      yield* uploads.filter(({ objectKey }) => objectKey.startsWith(keyPrefix))
    },
    hasObject: async (objectKey) => documents.has(objectKey),
  }
}
