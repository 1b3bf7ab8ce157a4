import { randomBytes } from 'node:crypto'
import { compareBytes } from '../../../lib/object-keys.ts'
import { bytesOf, type Call, describing, found, NO_CONTENT, OK, type S3Answer, S3Failure, xml } from './s3-answers.ts'
import { etagOf, type S3Contents, type S3Disk, type StoredObject, sizeOf, slice, type Upload } from './s3-contents.ts'

export function uploadOperations(
  contents: S3Contents,
  disk: S3Disk | undefined,
  objects: { put(call: Call, made: Omit<StoredObject, 'modifiedAtMs'>): void; copySource(call: Call): StoredObject },
): Record<string, (call: Call) => S3Answer> {
  function uploadOf({ bucket, key, query }: Call): Upload {
    const upload = contents.uploads.get(query.get('uploadId') ?? '')
    return found(upload?.bucket === bucket && upload.key === key ? upload : undefined, 'NoSuchUpload')
  }

  return {
    'GET bucket uploads': ({ bucket, query }) => {
      const prefix = query.get('prefix') ?? ''
      const after = query.get('key-marker') ?? ''
      const Upload = [...contents.uploads]
        .filter(([, of]) => of.bucket === bucket && of.key.startsWith(prefix) && compareBytes(of.key, after) > 0)
        .map(([UploadId, of]) => ({ Key: of.key, UploadId, Initiated: new Date(of.startedAtMs).toISOString() }))
        .toSorted((a, b) => compareBytes(a.Key, b.Key))
      return xml({ ListMultipartUploadsResult: { IsTruncated: false, Upload } })
    },
    'POST object uploads': ({ bucket, key, request }) => {
      const UploadId = randomBytes(16).toString('hex')
      const headers = describing(request.headers)
      contents.uploads.set(UploadId, { bucket, key, headers, startedAtMs: Date.now(), parts: new Map() })
      return xml({ InitiateMultipartUploadResult: { UploadId } })
    },
    'PUT object uploadId': (call) => {
      const { parts } = uploadOf(call)
      const number = Number(call.query.get('partNumber'))
      if (call.header('x-amz-copy-source') === undefined) {
        const part = bytesOf(call.request)
        parts.set(number, { ...part, isReceived: true })
        return { ...OK, headers: { etag: part.etag } }
      }
      const source = objects.copySource(call)
      const range = call.header('x-amz-copy-source-range') ?? ''
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
      const pieces = first === undefined ? source.pieces : slice(source.pieces, Number(first), Number(last) + 1)
      // Not a hash of its bytes, which are not read: the same part of the same object has the same ETag.
      const etag = etagOf(`${source.etag}${range}`)
      parts.set(number, { pieces, etag })
      return xml({ CopyPartResult: { ETag: etag } })
    },
    'POST object uploadId': (call) => {
      const upload = uploadOf(call)
      const named = [...String(call.request.body).matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)]
      const parts = named.map(([, number]) => found(upload.parts.get(Number(number)), 'InvalidPart', 400))
      const pieces = parts.flatMap((part) => part.pieces)
      const wanted = call.header('x-amz-mp-object-size')
      if (wanted !== undefined && Number(wanted) !== sizeOf(pieces)) throw new S3Failure(400, 'InvalidRequest')
      const etag = etagOf(parts.map((part) => part.etag).join('')).replace(/"$/, `-${parts.length}"`)
      objects.put(call, { pieces, etag, headers: upload.headers })
      contents.uploads.delete(call.query.get('uploadId') ?? '')
      return xml({ CompleteMultipartUploadResult: { ETag: etag } })
    },
    'DELETE object uploadId': (call) => {
      for (const { pieces, isReceived } of uploadOf(call).parts.values()) if (isReceived) disk?.discard(pieces)
      contents.uploads.delete(call.query.get('uploadId') ?? '')
      return NO_CONTENT
    },
  }
}
