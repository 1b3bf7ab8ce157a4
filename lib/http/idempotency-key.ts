import { ServiceError } from '../errors.ts'
import { headerValue, type RequestHeaders } from './request-headers.ts'

const BARE = /^[!#-~][!-~]{0,254}$/
/** A structured-field string (RFC 9651 §3.3.3) of visible characters; `"` and `\` are escaped. */
const QUOTED = /^"((?:[!#-[\]-~]|\\["\\])+)"$/
const MAX_LENGTH = 255

/**
 * draft-ietf-httpapi-idempotency-key-header, but bare keys are accepted too: most clients send no quotes.
 * @throws ServiceError invalid_idempotency_key
 */
export function readIdempotencyKey(event: RequestHeaders): string | undefined {
  const value = headerValue(event, 'idempotency-key')?.trim()
  if (value === undefined) return undefined
  const key = BARE.test(value) ? value : QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, '$1')
  if (key === undefined || key.length > MAX_LENGTH) throw new ServiceError('invalid_idempotency_key')
  return key
}
