import { compareBytes } from '../../../lib/object-keys.ts'
import { type Bytes, etagOf, type Piece } from './s3-contents.ts'

export interface S3Request {
  method: string
  /** Includes the query. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>
  /** The server has written those of an object or a part to disk already. */
  body: Buffer | Bytes
}

export type S3Answer = { status: number; headers: Record<string, string>; body: string | Piece[] }

export class S3Failure extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message = code) {
    super(message)
    this.status = status
    this.code = code
  }
}

type Xml = string | number | boolean | undefined | Xml[] | { [name: string]: Xml }

/** @param content one element and what is in it; an array stands for elements of the same name */
export function xml(content: Record<string, Xml>, status = 200): S3Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n${elements(content)}`
  const headers = { 'content-type': 'application/xml', 'content-length': `${Buffer.byteLength(body)}` }
  return { status, headers, body }
}

/** HEAD has no body. */
export function failure({ status, code, message }: S3Failure, method: string): S3Answer {
  return method === 'HEAD'
    ? { status, headers: {}, body: '' }
    : xml({ Error: { Code: code, Message: message } }, status)
}

function elements(content: Xml): string {
  if (content === undefined) return ''
  if (typeof content !== 'object') return escaped(String(content))
  return Object.entries(content)
    .flatMap(([name, inner]) => [inner].flat().map((one) => [name, one] as const))
    .map(([name, inner]) => (inner === undefined ? '' : `<${name}>${elements(inner)}</${name}>`))
    .join('')
}

const escaped = (text: string) => text.replace(/[&<>]|\p{Cc}/gu, (char) => `&#${char.charCodeAt(0)};`)

export type Listed = { key: string; entry: Record<string, Xml> }

/** ListObjectsV2 and, without a delimiter, ListObjectVersions: by the bytes of the keys, in pages, with a delimiter, encoded when asked for. */
export function listing(all: Listed[], query: URLSearchParams): S3Answer {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const token = query.get('continuation-token')
  const begun = query.get('start-after') ?? query.get('key-marker') ?? ''
  const after = token === null ? begun : Buffer.from(token, 'base64url').toString()
  const wanted = all.filter(({ key }) => key.startsWith(prefix)).toSorted((a, b) => compareBytes(a.key, b.key))
  const places = new Map<string, Listed | undefined>()
  for (const listed of wanted) {
    const end = delimiter === '' ? -1 : listed.key.indexOf(delimiter, prefix.length)
    const place = end < 0 ? listed.key : listed.key.slice(0, end + delimiter.length)
    if (compareBytes(place, after) > 0) places.set(place, end < 0 ? listed : undefined)
  }
  const page = [...places].slice(0, Number(query.get('max-keys') ?? 1000))
  const isTruncated = page.length < places.size
  const isEncoded = query.get('encoding-type') === 'url'
  const encoded = (key: string) => (isEncoded ? encodeURIComponent(key).replaceAll('%20', '+') : key)
  const [last = ''] = page.at(-1) ?? []
  const next = { NextKeyMarker: encoded(last), NextContinuationToken: Buffer.from(last).toString('base64url') }
  const [result, contents] = query.has('versions')
    ? ['ListVersionsResult', 'Version']
    : ['ListBucketResult', 'Contents']
  return xml({
    [result]: {
      ...{ KeyCount: page.length, IsTruncated: isTruncated, ...(isTruncated && next) },
      EncodingType: isEncoded ? 'url' : undefined,
      [contents]: page.flatMap(([place, listed]) => (listed ? [{ Key: encoded(place), ...listed.entry }] : [])),
      CommonPrefixes: page.flatMap(([place, listed]) => (listed ? [] : [{ Prefix: encoded(place) }])),
    },
  })
}

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

export const bytesOf = ({ body }: S3Request): Bytes =>
  Buffer.isBuffer(body) ? { pieces: [{ of: body, from: 0, to: body.length }], etag: etagOf(body) } : body

export function describing(headers: S3Request['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return Object.fromEntries(entries.filter(([name, value]) => DESCRIBING.test(name) && value !== 'aws-chunked'))
}
