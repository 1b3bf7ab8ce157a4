import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'

interface RestRequest {
  containerId?: string | undefined
  fileId?: string | undefined
  headers?: Record<string, string | string[]>
}

/** The event that a REST API hands to the function for the promote route; path parameters are as they came, encoded. */
export function restEvent({ containerId, fileId, headers = {} }: RestRequest): APIGatewayProxyEvent {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
  const path = `/v1/containers/${containerId}/files/${fileId}/promote`
  return {
    resource: '/v1/containers/{container_id}/files/{file_id}/promote',
    path,
    httpMethod: 'POST',
    headers: Object.fromEntries(Object.entries(multiValueHeaders).map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { container_id: containerId, file_id: fileId },
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: randomUUID() } as APIGatewayProxyEvent['requestContext'],
  }
}

/** @param remainingMs how long the process has from now on */
export function lambdaContext(remainingMs = 28_000): Context {
  const endMs = performance.now() + remainingMs
  return {
    awsRequestId: randomUUID(),
    functionName: 'promote-container-file',
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(endMs - performance.now())),
  } as Context
}
