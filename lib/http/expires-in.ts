import { LEAST_EXPIRY_SECONDS, MOST_EXPIRY_SECONDS, ServiceError } from '../errors.ts'
import type { Expiry } from '../ledger/expiry.ts'
import type { Body } from './known-names.ts'
import { headerValues, type RequestHeaders } from './request-headers.ts'

/** The body takes precedence over the header. @returns undefined when neither was sent. @throws ServiceError invalid_expiry */
export function readExpiresIn(event: RequestHeaders, { expires_in_seconds: inBody }: Body): number | undefined {
  const values = headerValues(event, 'file-expires-in')
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

/** The seconds that hold, and who has said so (an item with a parameter, RFC 9651). */
export function expiryHeader(expiry: Expiry | undefined): Record<string, string> {
  return expiry === undefined ? {} : { 'file-expires-in': `${expiry.seconds};by=${expiry.by}` }
}
