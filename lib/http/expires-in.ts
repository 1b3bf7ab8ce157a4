import { LEAST_EXPIRY_SECONDS, MOST_EXPIRY_SECONDS, ServiceError } from '../errors.ts'
import type { Expiry } from '../ledger/expiry.ts'
import { type Body, refuseBody } from './known-names.ts'
import { headerValues, type RequestHeaders } from './request-headers.ts'

/**
 * The body takes precedence over the header.
 * @returns undefined when neither was sent
 * @throws ServiceError invalid_expiry, invalid_body
 */
export function readExpiresIn(event: RequestHeaders, { expires_in_seconds: inBody }: Body): number | undefined {
  if (inBody !== undefined && !isExpiry(inBody)) {
    refuseBody(`expires_in_seconds must be a whole number from ${LEAST_EXPIRY_SECONDS} to ${MOST_EXPIRY_SECONDS}.`)
  }
  const header = readHeader(event)
  return isExpiry(inBody) ? inBody : header
}

function readHeader(event: RequestHeaders): number | undefined {
  const values = headerValues(event, 'file-expires-in')
  if (values.length === 0) return undefined
  const text = values.length === 1 ? (values[0] ?? '').trim() : ''
  if (!/^\d{1,9}$/.test(text) || !isExpiry(Number(text))) throw new ServiceError('invalid_expiry')
  return Number(text)
}

function isExpiry(seconds: unknown): seconds is number {
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) return false
  return seconds >= LEAST_EXPIRY_SECONDS && seconds <= MOST_EXPIRY_SECONDS
}

/** The seconds that hold, and who has said so (an item with a parameter, RFC 9651). */
export function expiryHeader(expiry: Expiry | undefined): Record<string, string> {
  return expiry === undefined ? {} : { 'file-expires-in': `${expiry.seconds};by=${expiry.by}` }
}
