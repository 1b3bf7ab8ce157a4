import type { IncomingHttpHeaders } from 'node:http'

export interface SimulatedAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

const ETAG = '"0123456789abcdef0123456789abcdef"'
const SHA256 = `${'A'.repeat(43)}=`
const xml = (status: number, body: string): SimulatedAnswer => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
})

/** No object exists: its size is read from its name, as in `…/5368709120.bin`. */
export function sizeInName(key: string): number {
  return Number(/(\d+)\.bin/.exec(key)?.[1] ?? 0)
}

/** Bytes that S3 moves for a call. */
export function bytesMoved(name: string, headers: IncomingHttpHeaders): number {
  if (name === 'CopyObject') return sizeInName(String(headers['x-amz-copy-source']))
  if (name !== 'UploadPartCopy') return 0
  const [, first, last] = /bytes=(\d+)-(\d+)/.exec(String(headers['x-amz-copy-source-range'])) ?? []
  return Number(last) - Number(first) + 1
}

/** S3 would answer so if all went well. */
export function answerS3(name: string, path: string): SimulatedAnswer {
  switch (name) {
    case 'HeadObject':
      return {
        status: 200,
        headers: { 'content-length': String(sizeInName(path)), etag: ETAG, 'content-type': 'text/plain' },
        body: '',
      }
    case 'CopyObject':
      return xml(
        200,
        `<CopyObjectResult><ETag>${ETAG}</ETag><ChecksumSHA256>${SHA256}</ChecksumSHA256></CopyObjectResult>`,
      )
    case 'CreateMultipartUpload':
      return xml(200, '<InitiateMultipartUploadResult><UploadId>upload</UploadId></InitiateMultipartUploadResult>')
    case 'UploadPartCopy':
      return xml(200, `<CopyPartResult><ETag>${ETAG}</ETag></CopyPartResult>`)
    case 'CompleteMultipartUpload':
      return xml(200, `<CompleteMultipartUploadResult><ETag>${ETAG}</ETag></CompleteMultipartUploadResult>`)
    case 'ListMultipartUploads':
      return xml(200, '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>')
    case 'DeleteObject':
    case 'AbortMultipartUpload':
      return { status: 204, headers: {}, body: '' }
    default:
      return xml(501, `<Error><Code>NotImplemented</Code><Message>${name}</Message></Error>`)
  }
}
