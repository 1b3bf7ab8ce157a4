import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { requireWorkspace } from '../auth/authenticate.ts'
import type { AnyCaller, ApiKeyStore, Caller } from '../auth/caller.ts'
import type { RateLimiter } from '../auth/rate-limit.ts'
import type { Log } from '../logging.ts'
import type { Metrics } from '../metrics.ts'
import { type AnswerShape, chooseShape } from './file-shape.ts'
import { type Body, requireKnownNames, requireOwnWorkspace } from './known-names.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { authenticateCaller, authorizeCaller } from './middleware/authenticate-caller.ts'
import { limitRate } from './middleware/limit-rate.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { startRequest } from './middleware/start-request.ts'
import { entryOf, type OperationName } from './operations.ts'
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
export interface ApiRequest<Who extends AnyCaller = Caller> extends Omit<RateLimit, 'decision'> {
  event: ApiEvent
  caller: Who
  state: RequestState
  answerShape: AnswerShape
  body: Body
}

/** For the keys of a workspace; or for others, too, if its entry in OPERATIONS says so. */
export interface Operation<Who extends AnyCaller = Caller> {
  handle(request: ApiRequest<Who>): Promise<APIGatewayProxyResult>
}

/** Serves operations, each for the callers that its entry in OPERATIONS names. */
export function createApiHandler(operations: Partial<Record<OperationName, Operation<never>>>, deps: ApiDependencies) {
  const entries = Object.entries(operations) as [OperationName, Operation<AnyCaller>][]
  const served = new Map(entries.map(([name, operation]) => [entryOf(name).route, { operation, name }]))
  const servedFor = ({ httpMethod, resource }: ApiEvent) => served.get(`${httpMethod} ${resource}`)

  const handle = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { state } = event
    const { caller, rateLimit } = state
    if (caller === undefined || rateLimit === undefined) throw new Error('the handler was reached unauthenticated')
    const { operation, name } = servedFor(event) ?? {}
    if (operation === undefined || name === undefined) throw new Error('the handler was reached without an operation')
    const { for: whom } = entryOf(name)
    requireOwnWorkspace(event, caller, whom === 'platform')
    const answerShape = chooseShape(event)
    const body = requireKnownNames(event, name)
    const isForOthers = whom === 'platform' || whom === 'any'
    const who = { caller: isForOthers ? caller : requireWorkspace(caller) }
    const request = { event, state, answerShape, body, ...rateLimit, ...who }
    const answer = await operation.handle(request)
    await rateLimit.rateLimitPassed
    return answer
  }

  // Every call is bounded by our own deadline; middy's early timeout would cut the undo short.
  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(startRequest({ ...deps, nameOf: (event) => servedFor(event)?.name }))
    .use(reportOutcome(deps))
    .use(answerErrors())
    .use(authenticateCaller(deps))
    .use(limitRate(deps))
    .use(authorizeCaller((event) => servedFor(event)?.name))
    .handler(handle)
}
