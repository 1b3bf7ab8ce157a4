import { type ServiceError, toServiceError } from '../../errors.ts'
import { errorBody } from '../error-body.ts'
import type { ApiMiddleware } from '../exchange.ts'
import { storageUsageHeaders } from '../storage-usage-headers.ts'

/** The only writer of the error body. What failed behind a 5xx is left for the log and goes nowhere else. */
export function answerErrors(): ApiMiddleware {
  const onError: ApiMiddleware['onError'] = (request) => {
    const { exchange } = request.event
    const error = toServiceError(request.error)
    exchange.failure = error
    request.response = {
      statusCode: error.status,
      headers: errorHeaders(error),
      body: JSON.stringify(errorBody(error, exchange.requestId, exchange.caller?.userId)),
    }
  }
  return { onError }
}

function errorHeaders(error: ServiceError): Record<string, string> {
  const headers: Record<string, string> = {}
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  // RFC 6750 §3. API Gateway's REST APIs rename it to x-amzn-remapped-www-authenticate on its way out.
  if (error.reason === 'missing_authorization' || error.reason === 'malformed_authorization')
    headers['www-authenticate'] = 'Bearer'
  if (error.reason === 'invalid_api_key') headers['www-authenticate'] = 'Bearer error="invalid_token"'
  if (error.reason === 'storage_quota_exceeded') {
    Object.assign(headers, storageUsageHeaders(Number(error.metadata.quota_bytes), Number(error.metadata.used_bytes)))
  }
  return headers
}
