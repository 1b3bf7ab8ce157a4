import { DOCUMENTED_MESSAGES, REASONS, type ReasonRow } from '../../lib/errors.ts'
import { OPERATIONS } from '../../lib/http/operations.ts'
import { logicalIdOf } from './functions.ts'

/** For those who look for one that is not there. */
const ROUTES = Object.values(OPERATIONS)
  .map(({ route }) => route)
  .toSorted()
  .join(', ')

/** The reasons that only the gateway gives. */
export const GATEWAY_REASONS = {
  invalid_request: { status: 400, detail: 'The request is malformed.' },
  request_blocked: {
    status: 403,
    message: 'Request blocked',
    detail: 'The request was refused by the web application firewall.',
  },
  route_not_found: {
    status: 404,
    detail: `The API has no such operation. Perhaps /v1 is missing from the path, or there twice. It has: ${ROUTES}.`,
  },
  // 405 is no status of the interface.
  method_not_allowed: {
    status: 404,
    detail:
      'The path is right, the method is not: the Allow header lists the allowed ones. There are no uploads: promote a file of a container.',
  },
  request_too_large: {
    status: 413,
    detail: 'No operation takes a request body of this size: only promotions read one, of at most 1 MB.',
  },
} as const satisfies Record<string, ReasonRow>

/** All that an answer can give. */
export const ALL_REASONS = { ...REASONS, ...GATEWAY_REASONS }
type AnyReason = keyof typeof ALL_REASONS

/** By type, the reason of each answer that the gateway makes itself, and what it says in other words than the API. */
const ANSWERS: Readonly<Record<string, [reason: AnyReason, own?: Partial<ReasonRow>]>> = {
  ACCESS_DENIED: [
    'permission_denied',
    { message: 'Access denied', detail: 'The request was refused by the access rules of the API.' },
  ],
  API_CONFIGURATION_ERROR: ['internal_error'],
  AUTHORIZER_CONFIGURATION_ERROR: ['internal_error'],
  AUTHORIZER_FAILURE: ['internal_error'],
  BAD_REQUEST_BODY: ['invalid_request'],
  BAD_REQUEST_PARAMETERS: ['invalid_request'],
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

export interface GatewayResponse {
  ResponseType: string
  /** Missing from the two defaults: it would rewrite their whole class, whose answers keep API Gateway's own status. */
  StatusCode?: string
  /** Values in quotes, or where they are taken from. */
  ResponseParameters: Record<string, string>
  ResponseTemplates: { 'application/json': string }
}

/** Every answer that the gateway makes itself, with the error body of docs/openapi.yaml. */
export const GATEWAY_RESPONSES: readonly GatewayResponse[] = Object.entries(ANSWERS).map(([type, [reason, own]]) => {
  const { status, retryAfterSeconds }: ReasonRow = ALL_REASONS[reason]
  const headers = {
    'cache-control': "'no-store'",
    'x-request-id': 'context.extendedRequestId',
    'request-id': 'context.extendedRequestId',
    ...(status === 401 && { 'www-authenticate': "'Bearer'" }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': `'${retryAfterSeconds}'` }),
  }
  const parameters = Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value])
  return {
    ResponseType: type,
    ...(!type.startsWith('DEFAULT_') && { StatusCode: String(status) }),
    ResponseParameters: Object.fromEntries(parameters),
    ResponseTemplates: { 'application/json': gatewayBody(reason, own) },
  }
})

/** The body of an answer that the gateway makes, a mapping template. @param own replaces the reason's sentences */
export function gatewayBody(reason: AnyReason, own: Partial<ReasonRow> = {}): string {
  const { status, message, detail }: ReasonRow = { ...ALL_REASONS[reason], ...own }
  return JSON.stringify({
    error: { code: status, message: message ?? DOCUMENTED_MESSAGES[status], metadata: { reason, detail } },
    service_metadata: { request_id: '$context.extendedRequestId' },
    user_id: null,
  })
}

/** An element of serverless.yml's `resources`. */
export function gatewayResponses() {
  const RestApiId = { Ref: 'ApiGatewayRestApi' }
  const resources = GATEWAY_RESPONSES.map((response) => [
    `${logicalIdOf(response.ResponseType.toLowerCase().replaceAll('_', '-'))}Response`,
    { Type: 'AWS::ApiGateway::GatewayResponse', Properties: { RestApiId, ...response } },
  ])
  return { Resources: Object.fromEntries(resources) }
}
