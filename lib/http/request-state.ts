import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { AnyCaller } from '../auth/caller.ts'
import type { RateLimitDecision } from '../auth/rate-limit.ts'
import type { ServiceError } from '../errors.ts'
import type { MetricValues } from '../metrics.ts'
import type { PromotionRequest } from '../promotion/promotion.ts'
import type { RequestScope } from '../telemetry.ts'
import type { AnswerHeaders } from './headers.ts'
import type { OperationName, PUBLIC_OPERATIONS } from './operations.ts'

export interface RateLimit extends Pick<PromotionRequest, 'rateLimitPassed' | 'countMore' | 'pauseMs'> {
  /** undefined when the limiter's store did not answer: then the request passes. */
  decision: Promise<RateLimitDecision | undefined>
}

export interface RequestState extends RequestScope {
  requestId: string
  startedAtMs: number
  caller?: AnyCaller
  rateLimit?: RateLimit
  /** undefined: the function serves none at this route. */
  operation: OperationName | keyof typeof PUBLIC_OPERATIONS | undefined
  /** Metrics to publish if the request succeeds. */
  counts?: MetricValues
  failure?: ServiceError
  responseHeaders: AnswerHeaders
}

export interface ApiEvent extends APIGatewayProxyEvent {
  state: RequestState
}

export type ApiMiddleware = MiddlewareObj<ApiEvent, APIGatewayProxyResult>
