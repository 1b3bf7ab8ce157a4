import { createRequestDeadline } from '../../deadline.ts'
import type { Log } from '../../logging.ts'
import { createTelemetry } from '../../telemetry.ts'
import { EXPOSED_HEADERS, headerValue, VARY } from '../headers.ts'
import type { ApiEvent, ApiMiddleware, RequestState } from '../request-state.ts'

/** The outermost middleware: creates the request's state, and at the end adds the headers that every answer has. */
export function startRequest(deps: {
  log: Log
  now(): number
  nameOf(event: ApiEvent): RequestState['operation']
  corsAllowedOrigins?: readonly string[]
}): ApiMiddleware {
  const { log, now, nameOf, corsAllowedOrigins = [] } = deps
  const before: ApiMiddleware['before'] = ({ event, context }) => {
    const requestId = event.requestContext?.extendedRequestId ?? context.awsRequestId // Callers may set requestId.
    const startedAtMs = now()
    const received = { receivedAtMs: event.requestContext?.requestTimeEpoch, nowMs: startedAtMs }
    event.state = {
      requestId,
      deadline: createRequestDeadline(received, () => context.getRemainingTimeInMillis()),
      log: log.with({ request_id: requestId }),
      telemetry: createTelemetry(),
      startedAtMs,
      operation: nameOf(event),
      responseHeaders: {},
    }
  }

  const close: ApiMiddleware['after'] = ({ event, response }) => {
    if (!response) return
    const { state } = event
    // An operation's own Vary is added to ours, not put in its place.
    const { vary: alsoVary, ...headers } = response.headers ?? {}
    const varied = [VARY, corsAllowedOrigins.length > 0 && 'Origin', alsoVary]
    response.headers = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      // This restricts only requests without CORS: a page of an allowed origin may read the answer all the same.
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'x-request-id': state.requestId,
      // Where Anthropic's libraries look for it.
      'request-id': state.requestId,
      vary: varied.filter(Boolean).join(', '),
      ...corsHeaders(event, corsAllowedOrigins),
      ...state.responseHeaders,
      ...headers,
    }
  }

  return { before, after: close, onError: close }
}

/** Lets pages of the allowed origins read the answer. Never with credentials: a page sends its key itself. */
function corsHeaders(event: ApiEvent, allowedOrigins: readonly string[]): Record<string, string> {
  const origin = headerValue(event, 'Origin')
  if (origin === undefined || !allowedOrigins.includes(origin)) return {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS }
}
