import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { AnyCaller } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'
import { type Body, readBody, refuseBody } from './body.ts'
import { HEADERS_OF_ALL, HEADERS_OF_PROMOTION, headerValues, readWaitMs } from './headers.ts'
import { entryOf, type OperationName } from './operations.ts'
import { queryNames, queryValues, refuseParameter } from './query.ts'

/** Older libraries of Anthropic, and Azure's, send these with every request. */
const QUERY_OF_LIBRARIES = ['beta', 'api-version']

/**
 * Refuses a request for what the operation does not know: ignoring that would do something other than was asked.
 * @throws ServiceError unsupported_parameter, invalid_body
 */
export function requireKnownNames(event: APIGatewayProxyEvent, operation: OperationName): Body {
  const { for: whom, query: own = [], headers = HEADERS_OF_ALL, body: members = [] } = entryOf(operation)
  const query = whom === 'platform' ? own : [...own, 'workspace_id']
  const other = queryNames(event).find((name) => ![...query, ...QUERY_OF_LIBRARIES].includes(name))
  if (other !== undefined) refuseParameter(other, query.length > 0 ? `It knows ${query.join(', ')}.` : 'It has none.')
  for (const name of HEADERS_OF_PROMOTION.filter((each) => !headers.includes(each))) {
    // Other preferences than to wait may be ignored (RFC 7240 §2).
    const isSent = name === 'Prefer' ? readWaitMs(event) : headerValues(event, name).length > 0
    if (isSent) refuseParameter(name, 'Only POST /containers/{container_id}/files/{file_id}/promote knows this header.')
  }
  const body = readBody(event, members)
  // JSON.parse makes a member of __proto__, so that one is unknown like any other.
  const unknown = Object.keys(body).find((name) => !members.includes(name))
  if (unknown !== undefined) {
    const only = members.length > 0 ? `it may have only the members ${members.join(', ')}.` : 'it must be empty.'
    refuseBody(`It has ${JSON.stringify(unknown.slice(0, 64))}, but ${only}`)
  }
  if (whom === 'platform') return body
  return Object.fromEntries(Object.entries(body).filter(([, member]) => member !== null))
}

/**
 * The key alone decides, but a caller that names another workspace must not see or lose files of this one.
 * @throws ServiceError workspace_mismatch
 */
export function requireOwnWorkspace(event: APIGatewayProxyEvent, { workspaceId }: AnyCaller, isOfPlatform: boolean) {
  // A platform's request names one in its path; no query of its names any.
  const own = isOfPlatform ? event.pathParameters?.workspace_id : workspaceId
  const inQuery = isOfPlatform ? [] : queryValues(event, 'workspace_id')
  const named = [...inQuery, ...headerValues(event, 'Anthropic-Workspace-Id')]
  if (named.some((each) => each !== own)) throw new ServiceError('workspace_mismatch')
}
