import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type AnyCaller, type ApiKeyStore, type Caller, requirePermission, requireWorkspace } from '../auth/caller.ts'
import type { RateLimiter } from '../auth/rate-limit.ts'
import { ServiceError } from '../errors.ts'
import type { Log } from '../logging.ts'
import type { Metrics } from '../metrics.ts'
import type { Body } from './body.ts'
import { requireKnownNames, requireOwnWorkspace } from './known-names.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { authenticateCaller } from './middleware/authenticate-caller.ts'
import { limitRate } from './middleware/limit-rate.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { startRequest } from './middleware/start-request.ts'
import { entryOf, type OperationName } from './operations.ts'
import type { ApiEvent, RateLimit, RequestState } from './request-state.ts'
import { type AnswerShape, chooseShape } from './shapes.ts'

export interface ApiDependencies {
  apiKeys: ApiKeyStore
  rateLimiter: RateLimiter
  metrics: Metrics
  log: Log
  now(): number
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
type Operation<Who extends AnyCaller = Caller> = (request: ApiRequest<Who>) => Promise<APIGatewayProxyResult>
export type Operations<Who extends AnyCaller = Caller> = { [Name in OperationName]?: Operation<Who> }

export function createApiHandler(operations: Operations<never>, deps: ApiDependencies) {
  const handlers = operations as Operations<AnyCaller>
  const names = new Map((Object.keys(operations) as OperationName[]).map((name) => [entryOf(name).route, name]))
  const nameOf = ({ httpMethod, resource }: ApiEvent) => names.get(`${httpMethod} ${resource}`)

  const handle = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { state } = event
    const { caller, rateLimit } = state
    const name = nameOf(event)
    const operation = name && handlers[name]
    if (!caller || !rateLimit || !operation) throw new Error('the handler was reached past a middleware')
    const { for: whom, permission } = entryOf(name)
    const isForOthers = whom === 'platform' || whom === 'any'
    if (whom === 'platform' && caller.kind !== 'platform') throw new ServiceError('platform_key_required')
    const who = isForOthers ? caller : requireWorkspace(caller)
    const required = isForOthers ? permission : whom
    if (required) requirePermission(who, required)
    requireOwnWorkspace(event, caller, whom === 'platform')
    const answerShape = chooseShape(event)
    const body = requireKnownNames(event, name)
    const answer = await operation({ event, caller: who, state, answerShape, body, ...rateLimit })
    await rateLimit.rateLimitPassed
    return answer
  }

  // Every call is bounded by our own deadline; middy's early timeout would cut the undo short.
  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(startRequest({ ...deps, nameOf }))
    .use(reportOutcome(deps))
    .use(answerErrors())
    .use(authenticateCaller(deps))
    .use(limitRate(deps))
    .handler(handle)
}
