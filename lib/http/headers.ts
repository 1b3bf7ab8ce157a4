import type { APIGatewayProxyEvent } from 'aws-lambda'
import { quotedEtag } from '../containers/container-files.ts'
import { LEAST_EXPIRY_SECONDS, MOST_EXPIRY_SECONDS, ServiceError } from '../errors.ts'
import type { Preconditions } from '../promotion/preconditions.ts'
import type { Body } from './body.ts'

interface RequestHeader {
  /** What happens to it in operations that do not name it in OPERATIONS. Clients may send ignored ones every time. */
  elsewhere?: 'refused' | 'ignored'
  /** An empty one counts as sent: a variable left empty must not silently turn the protection off. */
  protects?: true
  /** The shape of the answer depends on it. */
  varies?: true
}

/** All of a request's headers that are read. CORS allows the promotion's, and others in infra/deploy/gateway-responses.ts. */
const REQUEST_HEADERS = {
  Authorization: {},
  'X-Api-Key': {},
  'Api-Key': {},
  Origin: {},
  Accept: {},
  'File-Shape': { varies: true },
  'Anthropic-Version': { varies: true },
  'Anthropic-Workspace-Id': {},
  'User-Agent': { varies: true },
  // Elsewhere, no repetition does harm, and no document is made.
  'Idempotency-Key': { elsewhere: 'ignored', protects: true },
  'If-Match': { elsewhere: 'refused', protects: true },
  'File-Bytes': { elsewhere: 'refused', protects: true },
  'File-Sha256': { elsewhere: 'refused', protects: true },
  Prefer: { elsewhere: 'refused' },
  'File-Expires-In': { elsewhere: 'ignored', protects: true },
  'OpenAI-Organization': { varies: true },
  'OpenAI-Project': { varies: true },
  'OpenAI-Beta': { varies: true },
  'X-Stainless-Lang': { varies: true },
} as const satisfies Record<string, RequestHeader>

/** Those of answers that pages of other origins may read (Fetch Standard, "CORS protocol"). */
const ANSWER_HEADERS = [
  'ETag',
  'File-Content-Encoding',
  'File-Expires-In',
  'File-Sha256',
  'Idempotency-Replayed',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Request-Id',
  'Retry-After',
  'Storage-Quota-Bytes',
  'Storage-Used-Bytes',
  'WWW-Authenticate',
  'X-Amzn-Remapped-WWW-Authenticate',
  'X-Request-Id',
] as const

export type RequestHeaderName = keyof typeof REQUEST_HEADERS
export type AnswerHeaders = { [Name in Lowercase<(typeof ANSWER_HEADERS)[number]>]?: string }

const requestHeadersWhere = (holds: (header: RequestHeader) => boolean) =>
  (Object.keys(REQUEST_HEADERS) as RequestHeaderName[]).filter((name) => holds(REQUEST_HEADERS[name]))

/** Headers that ask for something. A promotion of one file knows all of them. */
export const HEADERS_OF_PROMOTION = requestHeadersWhere(({ elsewhere }) => elsewhere !== undefined)
export const HEADERS_OF_ALL = requestHeadersWhere(({ elsewhere }) => elsewhere === 'ignored')
export const VARY = requestHeadersWhere(({ varies }) => varies === true).join(', ')
export const EXPOSED_HEADERS = ANSWER_HEADERS.join(', ')

export type RequestHeaders = Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>

/** Matches the name in any case: the gateway passes names on as the client wrote them. Empty ones count as not sent. */
export function headerValues(event: RequestHeaders, name: RequestHeaderName): string[] {
  const { protects }: RequestHeader = REQUEST_HEADERS[name]
  const lowerCased = name.toLowerCase()
  const valuesIn = (headers: object): string[] =>
    Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === lowerCased ? (value ?? []) : []))
  const multiple = valuesIn(event.multiValueHeaders ?? {})
  const sent = multiple.length > 0 ? multiple : valuesIn(event.headers ?? {})
  return protects ? sent : sent.filter((value) => value.trim() !== '')
}

/** Several values are joined as in HTTP (RFC 9110 §5.3). @returns undefined when it was not sent */
export function headerValue(event: RequestHeaders, name: RequestHeaderName): string | undefined {
  const values = headerValues(event, name)
  return values.length === 0 ? undefined : values.join(', ')
}

const BARE = /^[!#-~][!-~]{0,254}$/
/** A structured-field string (RFC 9651 §3.3.3) of visible characters; `"` and `\` are escaped. */
const QUOTED = /^"((?:[!#-[\]-~]|\\["\\])+)"$/
const MAX_LENGTH = 255

/**
 * draft-ietf-httpapi-idempotency-key-header, but bare keys are accepted too: most clients send no quotes.
 * @throws ServiceError invalid_idempotency_key
 */
export function readIdempotencyKey(event: RequestHeaders): string | undefined {
  const value = headerValue(event, 'Idempotency-Key')?.trim()
  if (value === undefined) return undefined
  const key = BARE.test(value) ? value : QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, '$1')
  if (key === undefined || key.length > MAX_LENGTH) throw new ServiceError('invalid_idempotency_key')
  return key
}

/** The body takes precedence over the header. @returns undefined when neither was sent. @throws ServiceError invalid_expiry */
export function readExpiresIn(event: RequestHeaders, { expires_in_seconds: inBody }: Body): number | undefined {
  const values = headerValues(event, 'File-Expires-In')
  const text = values.length === 1 ? (values[0] ?? '').trim() : ''
  const inHeader = values.length === 0 ? undefined : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  for (const seconds of [inBody, inHeader]) {
    if (seconds !== undefined && !isExpiry(seconds)) throw new ServiceError('invalid_expiry')
  }
  return isExpiry(inBody) ? inBody : inHeader
}

function isExpiry(seconds: unknown): seconds is number {
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) return false
  return seconds >= LEAST_EXPIRY_SECONDS && seconds <= MOST_EXPIRY_SECONDS
}

const MOST_WAIT_SECONDS = 20
/** RFC 9110 §8.8.3; and, without quotes, what many programs make of it. */
const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"|[!#-)+\--~]+/g
const QUOTED_STRING = /"((?:[^"\\]|\\.)*)"/g

/** @throws ServiceError invalid_precondition */
export function readPreconditions(event: RequestHeaders): Preconditions {
  const size = onlyValue(event, 'File-Bytes')
  const sha256 = onlyValue(event, 'File-Sha256')
  if (size !== undefined && !/^\d{1,15}$/.test(size)) refuse('File-Bytes', 'a number of bytes in decimal digits')
  if (sha256 !== undefined && !/^[\da-f]{64}$/i.test(sha256)) refuse('File-Sha256', '64 hexadecimal digits')
  return {
    etags: readEntityTags(event),
    sizeBytes: size === undefined ? undefined : Number(size),
    sha256: sha256?.toLowerCase(),
    waitMs: readWaitMs(event),
  }
}

/** If-Match (RFC 9110 §13.1.1). @returns undefined also for `*`: any file */
function readEntityTags(event: RequestHeaders): string[] | undefined {
  const value = onlyValue(event, 'If-Match')
  if (value === undefined || value === '*') return undefined
  const tags: string[] = []
  // The rest has to be the tags' places in a list.
  const list = value.replace(ENTITY_TAG, (tag) => {
    tags.push(quotedEtag(tag))
    return 'x'
  })
  const isList = list.split(',').every((place) => ['', 'x'].includes(place.trim()))
  return isList && tags.length > 0 ? tags : refuse('If-Match', 'one or more entity tags, or *')
}

/** Prefer (RFC 7240): what cannot be understood is ignored, and of several the first one counts. */
export function readWaitMs(event: RequestHeaders): number | undefined {
  // A comma in a quoted string separates nothing.
  const value = headerValue(event, 'Prefer')?.replace(QUOTED_STRING, (_, text: string) =>
    /^\d+$/.test(text) ? text : '-',
  )
  const waits = value?.split(',').flatMap((each) => /^\s*wait\s*(?:=([^;]*))?(?:;|$)/i.exec(each) ?? [])
  const seconds = waits?.[1]?.trim() ?? ''
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds), MOST_WAIT_SECONDS) * 1000 : undefined
}

/** A proxy may have sent the same value twice. */
function onlyValue(event: RequestHeaders, name: RequestHeaderName): string | undefined {
  const [value, ...others] = new Set(headerValues(event, name).map((each) => each.trim()))
  return others.length > 0 ? refuse(name, 'sent with one value only') : value
}

function refuse(name: RequestHeaderName, what: string): never {
  throw new ServiceError('invalid_precondition', { detail: `The ${name} header must be ${what}.` })
}
