import { createHash } from 'node:crypto'
import type { WireRequest } from './store.ts'

export interface Content {
  bytes: Buffer
  /** With its quotes. */
  etag: string
}
export interface StoredObject extends Content {
  /** What describes it: its type, its encoding, its storage class. */
  headers: Record<string, string>
  modifiedAtMs: number
}
export interface Upload {
  bucket: string
  key: string
  headers: Record<string, string>
  startedAtMs: number
  parts: Map<number, Content>
}
/** Everything that is kept. What a snapshot holds is not changed any more. */
export interface S3Contents {
  buckets: Map<string, Map<string, StoredObject>>
  uploads: Map<string, Upload>
}

const DESCRIBING = ['content-type', 'content-encoding', 'content-language', 'x-amz-storage-class']

/** Objects are replaced and never changed, so that copies may share them. */
export function copyOf({ buckets, uploads }: S3Contents): S3Contents {
  return {
    buckets: new Map([...buckets].map(([name, objects]) => [name, new Map(objects)])),
    uploads: new Map([...uploads].map(([id, upload]) => [id, { ...upload, parts: new Map(upload.parts) }])),
  }
}

export function describing({ headers }: WireRequest): Record<string, string> {
  return Object.fromEntries(
    DESCRIBING.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  )
}

export const contentOf = (bytes: Buffer): Content => ({
  bytes,
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
})

/** The same parts are copied in many trials of a run: their hashes are remembered. */
const slices = new WeakMap<Buffer, Map<string, Content>>()

export function sliceOf({ bytes }: Content, from: number, to: number): Content {
  const known = slices.get(bytes) ?? new Map<string, Content>()
  slices.set(bytes, known)
  const slice = known.get(`${from}-${to}`) ?? contentOf(bytes.subarray(from, to))
  known.set(`${from}-${to}`, slice)
  return slice
}
