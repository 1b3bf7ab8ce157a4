import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { DocumentedOperation } from './openapi.ts'

type Values = Record<string, string | string[]>

export interface RouteRequest {
  /** Path parameters as they came, encoded. */
  parameters?: Record<string, string | undefined>
  query?: Values
  headers?: Values
  /** JSON, or a text as it comes. */
  body?: object | string | undefined
}

/** The event that a REST API hands to the function for the promote route; path parameters are as they came, encoded. */
export function restEvent({
  containerId: container_id,
  fileId: file_id,
  ...request
}: Pick<RouteRequest, 'headers' | 'body'> & { containerId?: string | undefined; fileId?: string | undefined }) {
  const path = '/containers/{container_id}/files/{file_id}/promote'
  return routeEvent({ method: 'post', path }, { parameters: { container_id, file_id }, ...request })
}

/** The event that a REST API hands to the function of any route. */
export function routeEvent(
  { method, path }: DocumentedOperation,
  { parameters = {}, query = {}, headers = {}, body }: RouteRequest,
): APIGatewayProxyEvent {
  const resource = `/v1${path}`
  const hasQuery = Object.keys(query).length > 0
  return {
    resource,
    path: resource.replace(/\{(\w+)\}/g, (_, name: string) => String(parameters[name])),
    httpMethod: method.toUpperCase(),
    headers: lastOf(headers),
    multiValueHeaders: allOf(headers),
    queryStringParameters: hasQuery ? lastOf(query) : null,
    multiValueQueryStringParameters: hasQuery ? allOf(query) : null,
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    stageVariables: null,
    body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    isBase64Encoded: false,
    requestContext: { extendedRequestId: randomUUID() } as APIGatewayProxyEvent['requestContext'],
  }
}

const allOf = (values: Values): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))
const lastOf = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat().at(-1) ?? '']))

/**
 * A process's time for `lambdaContext`: a wait for something that never answers ends after `leftMs`, and leaves enough
 * time to undo, however busy the machine is.
 * @param undoMs a request that undoes nothing in this time leaves it to the resolver
 */
export function deadlineIn(leftMs: number, undoMs = 25_000): () => number {
  let isDeadlineSet = false
  return () => {
    // A deadline leaves 2.5 s (lib/deadline.ts).
    const remainingMs = isDeadlineSet ? undoMs : leftMs + 2500
    isDeadlineSet = true
    return remainingMs
  }
}

/** @param remainingMs how long the process has from now on; a function tells it whenever it is asked */
export function lambdaContext(remainingMs: number | (() => number) = 28_000): Context {
  const startMs = performance.now()
  return {
    awsRequestId: randomUUID(),
    functionName: 'promote-container-file',
    getRemainingTimeInMillis: () =>
      typeof remainingMs === 'function'
        ? remainingMs()
        : Math.max(0, Math.floor(startMs + remainingMs - performance.now())),
  } as Context
}
