import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ApiKeyStore, Caller, Permission } from '../auth/caller.ts'
import type { Log } from '../logging.ts'
import type { Metrics } from '../metrics.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { ApiEvent, Exchange } from './exchange.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { authenticateCaller } from './middleware/authenticate-caller.ts'
import { authorizeCaller } from './middleware/authorize-caller.ts'
import { limitRate } from './middleware/limit-rate.ts'
import { openExchange } from './middleware/open-exchange.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { requireOwnWorkspace } from './middleware/require-own-workspace.ts'

/** What every operation needs, whatever it does. */
export interface ApiDependencies {
  apiKeys: ApiKeyStore
  rateLimiter: RateLimiter
  metrics: Metrics
  log: Log
  now(): number
  /** Whose pages may read the answers. */
  corsAllowedOrigins?: readonly string[]
}

/** A request whose caller is known and allowed to do this. */
export interface ApiRequest {
  event: ApiEvent
  caller: Caller
  exchange: Exchange
  /** Rejects when the rate limit refuses the request: to be awaited before anything is written. */
  admitted: Promise<void>
}

export interface Operation {
  /** For log and metrics. */
  name: string
  handle(request: ApiRequest): Promise<APIGatewayProxyResult>
}

/**
 * A Lambda proxy handler for the operations that need the same permission.
 * @param operations by the gateway's resource, such as `/v1/files/{document_id}`
 */
export function createApiHandler(
  { permission, operations }: { permission: Permission; operations: Readonly<Record<string, Operation>> },
  deps: ApiDependencies,
) {
  const handle = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { exchange } = event
    const { caller, rateLimit } = exchange
    if (caller === undefined || rateLimit === undefined) throw new Error('the handler was reached unauthenticated')
    const operation = operations[event.resource]
    if (operation === undefined) throw new Error(`no operation is served at ${event.resource}`)
    const answer = await operation.handle({ event, caller, exchange, admitted: rateLimit.admitted })
    await rateLimit.admitted
    return answer
  }

  // The deadline of the exchange bounds every call; middy's own early timeout would cut the undo short.
  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(openExchange({ ...deps, nameOf: (resource) => operations[resource]?.name }))
    .use(reportOutcome(deps))
    .use(answerErrors())
    .use(authenticateCaller(deps))
    .use(limitRate(deps))
    .use(authorizeCaller(permission))
    .use(requireOwnWorkspace())
    .handler(handle)
}
