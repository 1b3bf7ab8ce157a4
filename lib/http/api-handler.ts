import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ApiKeyStore, Caller } from '../auth/caller.ts'
import type { RateLimiter } from '../auth/rate-limit.ts'
import { withFirstCallsUntil } from '../first-calls.ts'
import type { Log } from '../logging.ts'
import type { Metrics } from '../metrics.ts'
import { type AnswerShape, chooseShape } from './file-shape.ts'
import { type Body, requireKnownNames, requireOwnWorkspace } from './known-names.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { authenticateCaller, authorizeCaller } from './middleware/authenticate-caller.ts'
import { limitRate } from './middleware/limit-rate.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { startRequest } from './middleware/start-request.ts'
import { entryOf, type OperationName, resourceOf } from './operations.ts'
import type { ApiEvent, RateLimit, RequestState } from './request-state.ts'

export interface ApiDependencies {
  apiKeys: ApiKeyStore
  rateLimiter: RateLimiter
  metrics: Metrics
  log: Log
  now(): number
  /** The origins whose pages may read the answers. */
  corsAllowedOrigins?: readonly string[]
}

/** A request whose caller is known and allowed to do this. */
export interface ApiRequest extends Omit<RateLimit, 'decision'> {
  event: ApiEvent
  caller: Caller
  state: RequestState
  answerShape: AnswerShape
  body: Body
}

export interface Operation {
  /** How many calls to stores may begin beside that of the rate limit; 1 by default. */
  firstCalls?: number
  handle(request: ApiRequest): Promise<APIGatewayProxyResult>
}

/** Serves operations, each for callers with its permission, if it needs one. */
export function createApiHandler(operations: Partial<Record<OperationName, Operation>>, deps: ApiDependencies) {
  const entries = Object.entries(operations) as [OperationName, Operation][]
  const served = new Map(
    entries.map(([name, operation]) => {
      const { permission } = entryOf(name)
      return [resourceOf(name), { ...operation, name, permission }]
    }),
  )

  const handle = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { state } = event
    const { caller, rateLimit } = state
    if (caller === undefined || rateLimit === undefined) throw new Error('the handler was reached unauthenticated')
    const operation = served.get(event.resource)
    if (operation === undefined) throw new Error('the handler was reached without an operation')
    requireOwnWorkspace(event, caller)
    const answerShape = chooseShape(event)
    const body = requireKnownNames(event, operation.name)
    const request = { event, caller, state, answerShape, body, ...rateLimit }
    const answer = await withFirstCallsUntil(rateLimit.rateLimitPassed, operation.firstCalls ?? 1, () =>
      operation.handle(request),
    )
    await rateLimit.rateLimitPassed
    return answer
  }

  // Every call is bounded by our own deadline; middy's early timeout would cut the undo short.
  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(startRequest({ ...deps, nameOf: (resource) => served.get(resource)?.name }))
    .use(reportOutcome(deps))
    .use(answerErrors())
    .use(authenticateCaller(deps))
    .use(limitRate(deps))
    .use(authorizeCaller((resource) => served.get(resource)))
    .handler(handle)
}
