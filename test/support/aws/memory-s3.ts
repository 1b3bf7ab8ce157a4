import { createHash, randomBytes } from 'node:crypto'
import { failure, S3Failure, xml } from './s3-answers.ts'
import {
  type Content,
  contentOf,
  copyOf,
  describing,
  type S3Contents,
  type StoredObject,
  sliceOf,
  type Upload,
} from './s3-contents.ts'
import { listObjects, listUploads } from './s3-listings.ts'
import type { Store, WireAnswer, WireRequest } from './store.ts'

interface Call {
  bucket: string
  key: string
  query: URLSearchParams
  request: WireRequest
  header(name: string): string | undefined
}

/** Of the operations below; any other stands for an operation that is not there, as `tagging` does. */
const PARAMETERS = new Set([
  ...['x-id', 'uploads', 'uploadId', 'partNumber', 'list-type', 'prefix', 'delimiter', 'start-after'],
  ...['continuation-token', 'max-keys', 'encoding-type', 'key-marker', 'max-uploads'],
])
const OK: WireAnswer = { status: 200, headers: {}, body: '' }
const NO_CONTENT: WireAnswer = { status: 204, headers: {}, body: '' }

/**
 * S3 in memory, with what the product uses of it: objects, copies of them, uploads in parts, listings. It passes the
 * contract that the adapter passes on the embedded S3 of `npm start`.
 */
export function createMemoryS3() {
  let contents: S3Contents = { buckets: new Map(), uploads: new Map() }

  const store: Store = async (request) => {
    const { pathname, searchParams: query } = new URL(request.path, 'http://s3')
    const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(pathname) ?? []
    const header = (name: string) => request.headers[name] as string | undefined
    try {
      return answer({ bucket, key: decodeURIComponent(key), query, request, header })
    } catch (error) {
      if (error instanceof S3Failure) return failure(error, request.method)
      throw error
    }
  }

  function answer(call: Call): WireAnswer {
    const { key, query } = call
    const { method } = call.request
    if ([...query.keys()].some((name) => !PARAMETERS.has(name))) throw notImplemented(call)
    if (method === 'PUT' && key === '') return createBucket(call)
    objectsOf(call.bucket)
    if (key === '') {
      if (method === 'HEAD') return OK
      if (method === 'GET')
        return query.has('uploads')
          ? listUploads(call.bucket, contents.uploads, query)
          : listObjects(objectsOf(call.bucket), query)
    } else if (query.has('uploadId')) {
      if (method === 'PUT') return putPart(call)
      if (method === 'POST') return completeUpload(call)
      if (method === 'DELETE') return abortUpload(call)
    } else {
      if (method === 'PUT') return call.header('x-amz-copy-source') === undefined ? putObject(call) : copyObject(call)
      if (method === 'POST' && query.has('uploads')) return createUpload(call)
      if (method === 'GET' || method === 'HEAD') return readObject(call)
      if (method === 'DELETE') return deleteObject(call)
    }
    throw notImplemented(call)
  }

  function objectsOf(bucket: string): Map<string, StoredObject> {
    const objects = contents.buckets.get(bucket)
    if (objects === undefined) throw new S3Failure(404, 'NoSuchBucket')
    return objects
  }

  function createBucket({ bucket }: Call): WireAnswer {
    if (!contents.buckets.has(bucket)) contents.buckets.set(bucket, new Map())
    return OK
  }

  function put(bucket: string, key: string, content: Content, headers: Record<string, string>): void {
    objectsOf(bucket).set(key, { ...content, headers, modifiedAtMs: Date.now() })
  }

  function putObject({ bucket, key, request }: Call): WireAnswer {
    const content = contentOf(request.body)
    put(bucket, key, content, describing(request))
    return { ...OK, headers: { etag: content.etag } }
  }

  /** The object that a copy names, if it still is the one that is meant. */
  function copySource({ header }: Call): StoredObject {
    const [, bucket = '', key = ''] = /^\/?([^/]*)\/(.*)$/s.exec(header('x-amz-copy-source') ?? '') ?? []
    const source = objectsOf(bucket).get(decodeURIComponent(key))
    if (source === undefined) throw new S3Failure(404, 'NoSuchKey')
    const wanted = header('x-amz-copy-source-if-match')
    if (wanted !== undefined && wanted !== source.etag) throw new S3Failure(412, 'PreconditionFailed')
    return source
  }

  function copyObject(call: Call): WireAnswer {
    const source = copySource(call)
    const isReplaced = call.header('x-amz-metadata-directive') === 'REPLACE'
    put(call.bucket, call.key, source, isReplaced ? describing(call.request) : source.headers)
    return xml({ CopyObjectResult: { ETag: source.etag } })
  }

  function readObject({ bucket, key, request, header }: Call): WireAnswer {
    const object = objectsOf(bucket).get(key)
    if (object === undefined) throw new S3Failure(404, 'NoSuchKey')
    const wanted = header('if-match')
    if (wanted !== undefined && wanted !== object.etag) throw new S3Failure(412, 'PreconditionFailed')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header('range') ?? '') ?? []
    if (first !== undefined && Number(first) >= object.bytes.length) throw new S3Failure(416, 'InvalidRange')
    const bytes = first === undefined ? object.bytes : object.bytes.subarray(Number(first), Number(last) + 1)
    const headers = {
      ...object.headers,
      etag: object.etag,
      'content-length': String(bytes.length),
      'last-modified': new Date(object.modifiedAtMs).toUTCString(),
    }
    return { status: first === undefined ? 200 : 206, headers, body: request.method === 'HEAD' ? '' : bytes }
  }

  function deleteObject({ bucket, key }: Call): WireAnswer {
    objectsOf(bucket).delete(key)
    return NO_CONTENT
  }

  function createUpload({ bucket, key, request }: Call): WireAnswer {
    const UploadId = randomBytes(16).toString('hex')
    const upload = { bucket, key, headers: describing(request), startedAtMs: Date.now(), parts: new Map() }
    contents.uploads.set(UploadId, upload)
    return xml({ InitiateMultipartUploadResult: { UploadId } })
  }

  function uploadOf({ bucket, key, query }: Call): Upload {
    const upload = contents.uploads.get(query.get('uploadId') ?? '')
    if (upload?.bucket !== bucket || upload.key !== key) throw new S3Failure(404, 'NoSuchUpload')
    return upload
  }

  function putPart(call: Call): WireAnswer {
    const { query, request, header } = call
    const upload = uploadOf(call)
    const isCopy = header('x-amz-copy-source') !== undefined
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header('x-amz-copy-source-range') ?? '') ?? []
    const part = isCopy ? sliceOf(copySource(call), Number(first), Number(last) + 1) : contentOf(request.body)
    upload.parts.set(Number(query.get('partNumber')), part)
    return isCopy ? xml({ CopyPartResult: { ETag: part.etag } }) : { ...OK, headers: { etag: part.etag } }
  }

  function completeUpload(call: Call): WireAnswer {
    const upload = uploadOf(call)
    const named = [...call.request.body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, n]) =>
      Number(n),
    )
    const parts = named.map((number) => upload.parts.get(number)).filter((part) => part !== undefined)
    if (parts.length < named.length) throw new S3Failure(400, 'InvalidPart')
    const bytes = Buffer.concat(parts.map((part) => part.bytes))
    const wanted = call.header('x-amz-mp-object-size')
    if (wanted !== undefined && Number(wanted) !== bytes.length) throw new S3Failure(400, 'InvalidRequest')
    const hash = createHash('md5')
    for (const { etag } of parts) hash.update(Buffer.from(etag.slice(1, -1), 'hex'))
    const etag = `"${hash.digest('hex')}-${parts.length}"`
    put(call.bucket, call.key, { bytes, etag }, upload.headers)
    contents.uploads.delete(call.query.get('uploadId') ?? '')
    return xml({ CompleteMultipartUploadResult: { ETag: etag } })
  }

  function abortUpload(call: Call): WireAnswer {
    uploadOf(call)
    contents.uploads.delete(call.query.get('uploadId') ?? '')
    return NO_CONTENT
  }

  return {
    store,
    snapshot: () => copyOf(contents),
    restore(snapshot: S3Contents): void {
      contents = copyOf(snapshot)
    },
  }
}

function notImplemented({ request: { method, path } }: Call): S3Failure {
  return new S3Failure(501, 'NotImplemented', `test/support/aws/memory-s3.ts has no ${method} ${path}: add it there`)
}
