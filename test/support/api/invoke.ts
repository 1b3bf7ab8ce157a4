import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { type AnyResponse, type DocumentedOperation, expectDocumented, PROMOTE } from './openapi.ts'
import { lambdaContext } from './rest-event.ts'

type ApiFunction = (event: never, context: Context) => Promise<APIGatewayProxyResult>

interface Invocation {
  event: APIGatewayProxyEvent
  /** The operation that is called; omitted: a promotion. */
  operation?: DocumentedOperation
  context?: Context
}

/** Calls a function as the gateway does. Its answer is as docs/openapi.yaml describes it, or this fails. */
export async function invoke(
  handler: ApiFunction,
  { event, operation = PROMOTE, context = lambdaContext() }: Invocation,
): Promise<AnyResponse> {
  const response = toResponse(await handler(event as never, context))
  expectDocumented(response, operation)
  return response
}

function toResponse({ statusCode, headers = {}, body }: APIGatewayProxyResult): AnyResponse {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return { status: statusCode, headers: Object.fromEntries(entries), body: JSON.parse(body) }
}
