import type { ServiceError } from '../errors.ts'

/** The error body of interface.md §2.4. */
export function errorBody(error: ServiceError, requestId: string, userId: string | undefined): Record<string, unknown> {
  return {
    error: {
      code: error.status,
      message: error.message,
      metadata: { reason: error.reason, detail: error.detail, ...error.metadata },
    },
    service_metadata: { request_id: requestId },
    user_id: userId ?? null,
  }
}
