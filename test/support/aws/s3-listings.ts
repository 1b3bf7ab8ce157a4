import { type Listed, listing, xml } from './s3-answers.ts'
import type { StoredObject, Upload } from './s3-contents.ts'
import type { WireAnswer } from './store.ts'

export function listObjects(objects: Map<string, StoredObject>, query: URLSearchParams): WireAnswer {
  const all = [...objects].map(
    ([key, { bytes, etag, modifiedAtMs }]): Listed => ({
      key,
      entry: { Size: bytes.length, ETag: etag, LastModified: new Date(modifiedAtMs).toISOString() },
    }),
  )
  return listing(all, query)
}

export function listUploads(bucket: string, uploads: Map<string, Upload>, query: URLSearchParams): WireAnswer {
  const [prefix, after] = [query.get('prefix') ?? '', query.get('key-marker') ?? '']
  const Upload = [...uploads]
    .filter(([, { bucket: of, key }]) => of === bucket && key.startsWith(prefix) && key > after)
    .map(([UploadId, { key: Key, startedAtMs }]) => ({
      Key,
      UploadId,
      Initiated: new Date(startedAtMs).toISOString(),
    }))
  return xml({ ListMultipartUploadsResult: { IsTruncated: false, Upload } })
}
