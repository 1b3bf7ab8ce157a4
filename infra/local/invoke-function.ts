import { type Agent, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { LOOPBACK } from './listen.ts'

/** API Gateway quotas, "REST API": integration timeout. */
const INTEGRATION_TIMEOUT_MS = 29_000

/** The gateway responses that an invocation can end in. */
export type IntegrationFault = 'INTEGRATION_FAILURE' | 'INTEGRATION_TIMEOUT' | 'REQUEST_TOO_LARGE' | 'DEFAULT_5XX'

/**
 * Invokes a function through Lambda's own API.
 * @returns its answer, or the gateway response instead
 */
export async function invokeFunction(
  functionName: string,
  event: APIGatewayProxyEvent,
  { port, agent }: { port: number; agent: Agent },
): Promise<APIGatewayProxyResult | IntegrationFault> {
  const path = `/2015-03-31/functions/${functionName}/invocations`
  const signal = AbortSignal.timeout(INTEGRATION_TIMEOUT_MS)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ host: LOOPBACK, port, agent, method: 'POST', path, signal }, resolve)
        .on('error', reject)
        .end(JSON.stringify(event))
    })
    if (response.statusCode === 413) {
      response.resume()
      return 'REQUEST_TOO_LARGE'
    }
    const isFault = response.statusCode !== 200 || response.headers['x-amz-function-error'] !== undefined
    const result = await json(response)
    return isFault || !isProxyResult(result) ? 'DEFAULT_5XX' : result
  } catch {
    return signal.aborted ? 'INTEGRATION_TIMEOUT' : 'INTEGRATION_FAILURE'
  }
}

function isProxyResult(result: unknown): result is APIGatewayProxyResult {
  if (typeof result !== 'object' || result === null) return false
  const { statusCode, body } = result as Partial<Record<string, unknown>>
  const isStatus = Number.isInteger(statusCode) && Number(statusCode) >= 100 && Number(statusCode) <= 599
  return isStatus && (body === undefined || body === null || typeof body === 'string')
}
