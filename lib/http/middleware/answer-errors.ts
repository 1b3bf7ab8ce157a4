import { ServiceError } from '../../errors.ts'
import { usageHeaders } from '../answers.ts'
import type { AnswerHeaders } from '../headers.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** The only writer of the error body. The cause of a 5xx goes to the log and nowhere else. */
export function answerErrors(): ApiMiddleware {
  const onError: ApiMiddleware['onError'] = (request) => {
    const { state } = request.event
    const { error: thrown } = request
    const error = thrown instanceof ServiceError ? thrown : new ServiceError('internal_error', { cause: thrown })
    state.failure = error
    request.response = {
      statusCode: error.status,
      headers: errorHeaders(error),
      body: JSON.stringify({
        error: describeError(error),
        service_metadata: { request_id: state.requestId },
        user_id: state.caller?.userId ?? null,
      }),
    }
  }
  return { onError }
}

function errorHeaders(error: ServiceError): AnswerHeaders {
  const headers: AnswerHeaders = {}
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  // RFC 6750 §3. API Gateway's REST APIs rename it to x-amzn-remapped-www-authenticate.
  if (error.reason === 'missing_authorization' || error.reason === 'malformed_authorization')
    headers['www-authenticate'] = 'Bearer'
  if (error.reason === 'invalid_api_key') headers['www-authenticate'] = 'Bearer error="invalid_token"'
  if (error.reason === 'storage_quota_exceeded') {
    const { quota_bytes, used_bytes } = error.metadata
    Object.assign(headers, usageHeaders({ quotaBytes: Number(quota_bytes), usedBytes: Number(used_bytes) }))
  }
  return headers
}

/** @param more facts for programs, where no header can have them */
export function describeError(error: ServiceError, more = {}): Record<string, unknown> {
  return {
    code: error.status,
    message: error.message,
    metadata: { reason: error.reason, detail: error.detail, ...error.metadata, ...more },
    // The first vendor's libraries know this error as FileExpiredError.
    ...(error.reason === 'document_expired' && { details: { error_code: 'file_expired' } }),
  }
}
