import { headerValue, type RequestHeaders } from './request-headers.ts'

/** The headers of our answers that pages of other origins may read (Fetch Standard, "CORS protocol"). */
export const EXPOSED_HEADERS =
  'ETag, File-Content-Encoding, File-Expires-In, File-Sha256, Idempotency-Replayed, Preference-Applied, RateLimit, RateLimit-Policy, Request-Id, Retry-After, Storage-Quota-Bytes, Storage-Used-Bytes, WWW-Authenticate, X-Amzn-Remapped-WWW-Authenticate, X-Request-Id'

/**
 * Lets pages of the allowed origins read the answer. Never with credentials: a page sends its key itself.
 * @param allowedOrigins empty: pages of other origins cannot use the API
 */
export function corsHeaders(event: RequestHeaders, allowedOrigins: readonly string[]): Record<string, string> {
  const origin = headerValue(event, 'origin')
  if (origin === undefined || !allowedOrigins.includes(origin)) return {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS }
}
