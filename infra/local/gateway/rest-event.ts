import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Route } from '../../deploy/service-definition.ts'

type Context = APIGatewayProxyEvent['requestContext']
/** Path and query are as they came. */
export type RestRequest = { incoming: IncomingMessage; route: Route; path: string; query: string; body: Buffer }

/** The event that a REST API with Lambda proxy integration makes of a request. */
export function restEvent(request: RestRequest, pathParameters: Record<string, string>): APIGatewayProxyEvent {
  const { incoming, route, path, query, body } = request
  const multiValueHeaders = headersOf(incoming)
  const values = new URLSearchParams(query)
  const valuesOfEach = [...values.keys()].map((name) => [name, values.getAll(name)] as const)
  const multiValueQuery = values.size === 0 ? null : Object.fromEntries(valuesOfEach)
  return {
    resource: route.resource,
    path,
    httpMethod: incoming.method ?? '',
    headers: lastOfEach(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: multiValueQuery && lastOfEach(multiValueQuery),
    multiValueQueryStringParameters: multiValueQuery,
    pathParameters: Object.keys(pathParameters).length === 0 ? null : pathParameters,
    stageVariables: null,
    body: body.length === 0 ? null : body.toString('utf8'),
    isBase64Encoded: false,
    // The functions read no other fields.
    requestContext: { extendedRequestId: randomUUID(), requestTimeEpoch: Date.now() } as Context,
  }
}

/** All values of each header, under the name of its first occurrence. */
function headersOf({ rawHeaders, headersDistinct }: IncomingMessage): Record<string, string[]> {
  const nameOf = (key: string) => rawHeaders.find((name, at) => at % 2 === 0 && name.toLowerCase() === key) ?? key
  return Object.fromEntries(Object.entries(headersDistinct).map(([key, values = []]) => [nameOf(key), values]))
}

const lastOfEach = (multiple: Record<string, string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(multiple).map(([name, values]) => [name, values.at(-1) ?? '']))
