import { DOCUMENTED_MESSAGES, REASONS, type ReasonRow, retryAfterOf } from '../../lib/errors.ts'
import { EXPOSED_HEADERS, HEADERS_OF_PROMOTION } from '../../lib/http/headers.ts'
import { OPERATIONS } from '../../lib/http/operations.ts'

// The answers of the gateway itself, in the template that is deployed and in the local gateway alike.

/** How all paths begin. The gateway's answer to an unknown one is the same for all, whatever it is like. */
const BEGINNINGS = [...new Set(Object.values(OPERATIONS).map(({ route }) => /\/v1\/\w+/.exec(route)?.[0]))]

/** The reasons that only the gateway gives. */
const GATEWAY_REASONS = {
  invalid_request: { status: 400, detail: 'The request is malformed.' },
  request_blocked: {
    status: 403,
    message: 'Request blocked',
    detail: 'The request was refused by the web application firewall.',
  },
  route_not_found: {
    status: 404,
    detail: `The API has no such path. Each begins with one of ${BEGINNINGS.join(', ')}. Perhaps /v1 is missing, or there twice.`,
  },
  // 405 is no status of the interface.
  method_not_allowed: {
    status: 404,
    detail: 'The path is right, the method is not: the Allow header lists the allowed ones.',
  },
  request_too_large: { status: 413, detail: 'No operation takes a request body of this size: at most 1 MB.' },
} as const satisfies Record<string, ReasonRow>

export const ALL_REASONS = { ...REASONS, ...GATEWAY_REASONS }
type AnyReason = keyof typeof ALL_REASONS

/** By type, the reason of each answer that the gateway makes itself, and what it says in other words than the API. */
const REASON_OF_TYPE: Readonly<Record<string, [reason: AnyReason, own?: Partial<ReasonRow>]>> = {
  ACCESS_DENIED: [
    'permission_denied',
    { message: 'Access denied', detail: 'The request was refused by the access rules of the API.' },
  ],
  // The defaults are for all that is not named here.
  DEFAULT_4XX: ['invalid_request'],
  DEFAULT_5XX: ['internal_error'],
  // This and INVALID_SIGNATURE are about AWS signatures, which no route of ours uses: API Gateway looks for one in the
  // Authorization header only where it knows no route.
  EXPIRED_TOKEN: ['route_not_found'],
  // A function that crashed or answered too much: a fault of ours.
  INTEGRATION_FAILURE: ['internal_error'],
  INTEGRATION_TIMEOUT: [
    'request_timed_out',
    { detail: 'The service did not answer in time. Whatever was left of the request is cleaned up within minutes.' },
  ],
  INVALID_API_KEY: ['invalid_api_key'],
  INVALID_SIGNATURE: ['route_not_found'],
  MISSING_AUTHENTICATION_TOKEN: ['route_not_found'],
  QUOTA_EXCEEDED: ['rate_limited', { detail: 'The API receives more requests than it was set up for.' }],
  REQUEST_TOO_LARGE: ['request_too_large'],
  RESOURCE_NOT_FOUND: ['route_not_found'],
  THROTTLED: ['rate_limited', { detail: 'The API receives more requests at once than it was set up for.' }],
  UNAUTHORIZED: ['missing_authorization'],
  // Media types matter only where there is no operation.
  UNSUPPORTED_MEDIA_TYPE: ['route_not_found'],
  WAF_FILTERED: ['request_blocked'],
}

/** An answer that no function gives. Its body has `$context.extendedRequestId` for the id; headers with that come, too. */
export type GatewayAnswer = { status: number; headers: Record<string, string>; body: string }

/** By type, every answer that the gateway makes itself, with the error body of docs/openapi.yaml. */
export const GATEWAY_RESPONSES: Readonly<Record<string, GatewayAnswer>> = Object.fromEntries(
  Object.entries(REASON_OF_TYPE).map(([type, [reason, own]]) => [type, refusal(reason, own)]),
)

/** @param own replaces the reason's sentences */
export function refusal(reason: AnyReason, own: Partial<ReasonRow> = {}): GatewayAnswer {
  const row: ReasonRow = { ...ALL_REASONS[reason], ...own }
  const { status, message, detail } = row
  const retryAfterSeconds = retryAfterOf(row)
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({
      error: { code: status, message: message ?? DOCUMENTED_MESSAGES[status], metadata: { reason, detail } },
      service_metadata: { request_id: '$context.extendedRequestId' },
      user_id: null,
    }),
  }
}

/** What is often looked for at a path, by its beginning and end. */
const HINTS: readonly [RegExp, string][] = [
  [/^.v1.workspaces/, ' Workspaces and keys are made with PUT, under an id or a name.'],
  [/files$/, ' There are no uploads: promote a file of a container.'],
]

/** Refuses a method that a path does not have. @param methods that it has */
export function wrongMethod(path: string, methods: readonly string[]): GatewayAnswer {
  const [, hint = ''] = HINTS.find(([each]) => each.test(path)) ?? []
  const answer = refusal('method_not_allowed', { detail: ALL_REASONS.method_not_allowed.detail + hint })
  return { ...answer, headers: { ...answer.headers, allow: methods.toSorted().join(', ') } }
}

/** Headers that callers send; the vendors' libraries identify themselves in x-stainless-…. */
const REQUEST_HEADERS = [
  'Authorization, Content-Type, File-Shape, Anthropic-Version, Anthropic-Beta, Anthropic-Workspace-Id',
  ...HEADERS_OF_PROMOTION,
  'Anthropic-Dangerous-Direct-Browser-Access, OpenAI-Organization, OpenAI-Project, OpenAI-Beta',
  'X-Stainless-Arch, X-Stainless-Lang, X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Retry-Count',
  'X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Timeout, X-Stainless-Helper-Method',
].join(', ')
/** The maximum that browsers accept. */
const MAX_AGE_SECONDS = '7200'

/** Headers of the answer to a preflight, except the origin. @param methods of the path */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-allow-methods': methods.join(', '),
    'access-control-max-age': MAX_AGE_SECONDS,
    'cache-control': 'no-store',
    vary: 'Origin',
  }
}

/** Headers of the gateway's own answers, which are the same for everybody: any page may read them. */
export const OWN_ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
}
