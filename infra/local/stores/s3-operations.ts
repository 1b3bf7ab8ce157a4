import { randomBytes } from 'node:crypto'
import {
  bytesOf,
  type Call,
  DESCRIBING,
  describing,
  failure,
  found,
  listing,
  NO_CONTENT,
  OK,
  type S3Answer,
  S3Failure,
  type S3Request,
  xml,
} from './s3-answers.ts'
import { type S3Contents, type S3Disk, type StoredObject, sha256Of, sizeOf, slice, versionKey } from './s3-contents.ts'
import { uploadOperations } from './s3-uploads.ts'

/** Parameters of the operations below; any other, such as `tagging`, belongs to an operation that is missing. */
const PARAMETERS = new Set([
  ...['x-id', 'uploads', 'uploadId', 'partNumber', 'list-type', 'prefix', 'delimiter', 'start-after'],
  ...['continuation-token', 'max-keys', 'encoding-type', 'key-marker', 'max-uploads', 'versioning', 'versionId'],
  'versions',
])
/**
 * S3 as far as the product, its tests and its administration use it. Each request is answered before the next one is
 * looked at; only errors of the file system are thrown. @param disk omitted: everything stays in memory
 */
export function createS3(contents: S3Contents, disk?: S3Disk): (request: S3Request) => S3Answer {
  const objectsOf = (bucket: string) => found(contents.buckets.get(bucket), 'NoSuchBucket')

  function put(call: Call, made: Omit<StoredObject, 'modifiedAtMs'>): StoredObject {
    const { bucket, key, header } = call
    const objects = objectsOf(bucket)
    const unwanted = header('if-none-match')
    if (unwanted !== undefined && unwanted !== '*') throw new S3Failure(501, 'NotImplemented')
    if (unwanted && objects.has(key)) throw new S3Failure(412, 'PreconditionFailed')
    const wanted = header('if-match')
    if (wanted) requireMatch(wanted, found(objects.get(key), 'NoSuchKey'))
    const versions = contents.versions.get(bucket)
    const versionId = versions && randomBytes(16).toString('hex')
    const object = { ...made, versionId, modifiedAtMs: Date.now() }
    disk?.record(bucket, key, object)
    objects.set(key, object)
    if (versionId !== undefined) versions?.set(versionKey(key, versionId), object)
    return object
  }

  function objectOf(bucket: string, key: string, versionId: string | null | undefined): StoredObject {
    if (!versionId) return found(objectsOf(bucket).get(key), 'NoSuchKey')
    return found(contents.versions.get(bucket)?.get(versionKey(key, versionId)), 'NoSuchVersion')
  }

  /** The object that a copy names, if it is still the one that is meant. */
  function copySource({ header }: Call): StoredObject {
    const named = /^\/?([^/]*)\/(.*?)(?:\?versionId=(.*))?$/s.exec(header('x-amz-copy-source') ?? '')
    const [, bucket = '', key = '', versionId] = named ?? []
    const source = objectOf(bucket, decodeURIComponent(key), versionId)
    requireMatch(header('x-amz-copy-source-if-match'), source)
    return source
  }

  const all: Record<string, (call: Call) => S3Answer> = {
    'PUT bucket': ({ bucket }) => {
      if (contents.buckets.has(bucket)) return OK
      disk?.record(bucket)
      contents.buckets.set(bucket, new Map())
      return OK
    },
    'PUT bucket versioning': ({ bucket, request }) => {
      found(/<Status>Enabled</.exec(String(request.body)) ?? undefined, 'NotImplemented', 501)
      if (contents.versions.has(bucket) || !objectsOf(bucket)) return OK
      disk?.record(bucket, '', null, true)
      contents.versions.set(bucket, new Map())
      return OK
    },
    'HEAD bucket': ({ bucket }) => objectsOf(bucket) && OK,
    'GET bucket': ({ bucket, query }) => {
      if (query.has('versions') && contents.versions.has(bucket)) throw new S3Failure(501, 'NotImplemented')
      const listed = [...objectsOf(bucket)].map(([key, { pieces, etag, modifiedAtMs }]) => {
        const LastModified = new Date(modifiedAtMs).toISOString()
        const VersionId = query.has('versions') ? 'null' : undefined
        return { key, entry: { Size: sizeOf(pieces), ETag: etag, LastModified, VersionId } }
      })
      return listing(listed, query)
    },
    'PUT object': (call) => {
      const isReplaced = call.header('x-amz-metadata-directive') === 'REPLACE'
      const source = call.header('x-amz-copy-source') === undefined ? undefined : copySource(call)
      const { pieces, etag } = source ?? bytesOf(call.request)
      const headers = source === undefined || isReplaced ? describing(call.request.headers) : source.headers
      const sent = call.header('x-amz-checksum-sha256')
      const isHashed = source ? call.header('x-amz-checksum-algorithm') === 'SHA256' || source.sha256 : sent
      const sha256 = isHashed ? (disk?.sha256Of ?? sha256Of)(pieces) : undefined
      if (sent !== undefined && sent !== sha256) throw new S3Failure(400, 'BadDigest')
      const { modifiedAtMs } = put(call, { pieces, etag, headers, sha256 })
      if (!source) return { ...OK, headers: { etag } }
      const LastModified = new Date(modifiedAtMs).toISOString()
      return xml({ CopyObjectResult: { ETag: etag, LastModified, ChecksumSHA256: sha256 } })
    },
    'GET object': ({ bucket, key, query, header }) => {
      const { pieces, etag, headers, versionId, modifiedAtMs } = objectOf(bucket, key, query.get('versionId'))
      requireMatch(header('if-match'), { etag })
      const sizeBytes = sizeOf(pieces)
      const range = rangeIn(header('range'), sizeBytes)
      const body = range ? slice(pieces, range.first, range.end) : pieces
      const overriding = [...query].map(([name, value]) => [name.replace(/^response-/, ''), value] as const)
      return {
        status: range ? 206 : 200,
        headers: {
          ...headers,
          ...Object.fromEntries(overriding.filter(([name]) => DESCRIBING.test(name))),
          etag,
          ...(versionId && { 'x-amz-version-id': versionId }),
          'content-length': `${sizeOf(body)}`,
          ...(range && { 'content-range': `bytes ${range.first}-${range.end - 1}/${sizeBytes}` }),
          'last-modified': new Date(modifiedAtMs).toUTCString(),
        },
        body,
      }
    },
    'HEAD object': (call) => {
      const got = all['GET object']?.(call) as S3Answer
      const { sha256 } = objectOf(call.bucket, call.key, call.query.get('versionId'))
      const isTold = sha256 !== undefined && call.header('x-amz-checksum-mode') === 'ENABLED'
      return { ...got, headers: { ...got.headers, ...(isTold && { 'x-amz-checksum-sha256': sha256 }) }, body: '' }
    },
    'DELETE object': ({ bucket, key, query }) => {
      if (query.has('versionId')) throw new S3Failure(501, 'NotImplemented')
      // The versions stay.
      if (objectsOf(bucket).has(key)) disk?.record(bucket, key)
      objectsOf(bucket).delete(key)
      return NO_CONTENT
    },
    ...uploadOperations(contents, disk, { put, copySource }),
  }

  function operationFor({ bucket, key, query, request: { method, path } }: Call): (call: Call) => S3Answer {
    const kind = ['uploads', 'uploadId', 'versioning'].find((name) => query.has(name))
    const name = [method, key === '' ? 'bucket' : 'object', kind].filter(Boolean).join(' ')
    // In a bucket that is not versioned, each object is its only version.
    if (query.get('versionId') === 'null' && !contents.versions.has(bucket)) query.delete('versionId')
    const isKnown = [...query.keys()].every((each) => PARAMETERS.has(each) || /^(x-amz|response)-/i.test(each))
    return found(isKnown ? all[name] : undefined, 'NotImplemented', 501, `There is no ${method} ${path} here.`)
  }

  return (request) => {
    // The path is not parsed as a URL, which would take ".." out of a key.
    const [, bucket = '', key = '', query] = /^\/([^/?]*)\/?([^?]*)\??(.*)$/s.exec(request.path) ?? []
    const header = (name: string) => request.headers[name] as string | undefined
    const call = { bucket, key: decodeURIComponent(key), query: new URLSearchParams(query), request, header }
    try {
      return operationFor(call)(call)
    } catch (error) {
      if (error instanceof S3Failure) return failure(error, request.method)
      throw error
    }
  }
}

/** One range of bytes (RFC 9110 §14.1.2). Like S3, it takes anything else for none. @throws S3Failure if no byte is in it */
function rangeIn(header = '', sizeBytes: number): { first: number; end: number } | undefined {
  const [range, from, to] = /^bytes=(?=-?\d)(\d*)-(\d*)$/.exec(header) ?? []
  if (!range || (from && to && Number(to) < Number(from))) return undefined
  const first = from ? Number(from) : Math.max(0, sizeBytes - Number(to))
  const end = from && to ? Math.min(Number(to) + 1, sizeBytes) : sizeBytes
  if (first >= end) throw new S3Failure(416, 'InvalidRange')
  return { first, end }
}

function requireMatch(wanted: string | undefined, { etag }: { etag: string }): void {
  if (wanted !== undefined && wanted !== etag) throw new S3Failure(412, 'PreconditionFailed')
}
