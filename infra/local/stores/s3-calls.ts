import { type S3Answer, S3Failure, type S3Request } from './s3-answers.ts'
import { type Bytes, etagOf } from './s3-contents.ts'

export interface Call {
  bucket: string
  key: string
  query: URLSearchParams
  request: S3Request
  header(name: string): string | undefined
}

export const OK: S3Answer = { status: 200, headers: {}, body: '' }
export const NO_CONTENT: S3Answer = { ...OK, status: 204 }
export const DESCRIBING = /^(content-(type|encoding|language|disposition)|cache-control|x-amz-(storage-class|meta-.+))$/

export function found<Thing>(thing: Thing | undefined, code: string, status = 404, message = code): Thing {
  if (thing === undefined) throw new S3Failure(status, code, message)
  return thing
}

export function bytesOf({ body }: S3Request): Bytes {
  return Buffer.isBuffer(body) ? { pieces: [{ of: body, from: 0, to: body.length }], etag: etagOf(body) } : body
}

export function describing(headers: S3Request['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return Object.fromEntries(entries.filter(([name, value]) => DESCRIBING.test(name) && value !== 'aws-chunked'))
}
