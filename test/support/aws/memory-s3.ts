import { S3 } from '@aws-sdk/client-s3'
import { etagOf, type Piece, type S3Contents, type StoredObject } from '../../../infra/local/stores/s3-contents.ts'
import { createS3 } from '../../../infra/local/stores/s3-operations.ts'
import { MAX_ATTEMPTS } from '../../../lib/aws/clients.ts'
import { inProcess } from './in-process.ts'
import type { Store, WireAnswer } from './store.ts'

const MODIFIED_AT_MS = Date.parse('2026-11-21T09:38:35Z')

/** The embedded S3 of npm start, without its directory: in memory. */
export function createMemoryS3() {
  const contents: S3Contents = { buckets: new Map(), versions: new Map(), uploads: new Map() }
  const s3 = createS3(contents)
  const store: Store = async (request) => onWire(s3(request))
  return {
    store,
    contents,
    snapshot: () => copyOf(contents),
    restore: (snapshot: S3Contents) => void Object.assign(contents, copyOf(snapshot)),
  }
}

/** The product's client of such a store, which checks no signatures. */
export const memoryS3Client = (store: Store) =>
  new S3({
    region: 'us-east-1',
    maxAttempts: MAX_ATTEMPTS,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    forcePathStyle: true,
    signer: { sign: async (request: object) => request },
    requestHandler: inProcess(store),
  } as never)

export interface TestObject {
  bytes: Buffer
  contentType?: string | undefined
  contentEncoding?: string | undefined
  storageClass?: string | undefined
}

/** An object as the memory S3 keeps it. Its type is S3's own, unless its writer names one. */
export function storedObject({ bytes, contentType, contentEncoding, storageClass }: TestObject): StoredObject {
  const headers = {
    'content-type': contentType ?? 'binary/octet-stream',
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...(storageClass !== undefined && { 'x-amz-storage-class': storageClass }),
  }
  const pieces = [{ of: bytes, from: 0, to: bytes.length }]
  return { pieces, etag: etagOf(bytes), headers, modifiedAtMs: MODIFIED_AT_MS }
}

export const contentOf = ({ pieces }: Pick<StoredObject, 'pieces'>) => Buffer.concat(pieces.map(bytesOf))

export function onWire({ status, headers, body }: ReturnType<ReturnType<typeof createS3>>): WireAnswer {
  return { status, headers, body: typeof body === 'string' ? body : contentOf({ pieces: body }) }
}

const bytesOf = ({ of, from, to }: Piece) => (of as Buffer).subarray(from, to)

/** Objects are replaced and never changed, so that copies may share them. */
function copyOf({ buckets, versions, uploads }: S3Contents): S3Contents {
  const copied = (all: S3Contents['buckets']) => new Map([...all].map(([name, objects]) => [name, new Map(objects)]))
  return {
    buckets: copied(buckets),
    versions: copied(versions),
    uploads: new Map([...uploads].map(([id, upload]) => [id, { ...upload, parts: new Map(upload.parts) }])),
  }
}
