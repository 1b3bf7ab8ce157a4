import middy from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ApiKeyStore } from '../auth/caller.ts'
import type { Log } from '../logging.ts'
import type { Metrics, MetricValues } from '../metrics.ts'
import {
  type Promotion,
  type PromotionDependencies,
  promoteContainerFile,
} from '../promotion/promote-container-file.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { ApiEvent } from './exchange.ts'
import { fileResponse } from './file-response.ts'
import { chooseFileShape } from './file-shape.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { answerErrors } from './middleware/answer-errors.ts'
import { authenticateCaller } from './middleware/authenticate-caller.ts'
import { authorizeCaller } from './middleware/authorize-caller.ts'
import { limitRate } from './middleware/limit-rate.ts'
import { openExchange } from './middleware/open-exchange.ts'
import { reportOutcome } from './middleware/report-outcome.ts'
import { storageUsageHeaders } from './storage-usage-headers.ts'

export interface HttpDependencies extends PromotionDependencies {
  apiKeys: ApiKeyStore
  rateLimiter: RateLimiter
  metrics: Metrics
  log: Log
  /** Whose pages may read the answers. */
  corsAllowedOrigins?: readonly string[]
}

/** From this share of the quota on, a promotion counts as QuotaNearlyFull. */
const NEARLY_FULL = 0.9

/** POST /v1/containers/{container_id}/files/{file_id}/promote (interface.md §4) as a Lambda proxy handler. */
export function createPromoteContainerFileHandler(deps: HttpDependencies) {
  const promote = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { caller, deadline, log, journal, rateLimit } = event.exchange
    if (caller === undefined || rateLimit === undefined) throw new Error('the handler was reached unauthenticated')
    const shape = chooseFileShape(event)
    const promotion = await promoteContainerFile(
      {
        caller,
        containerId: event.pathParameters?.container_id,
        fileId: event.pathParameters?.file_id,
        idempotencyKey: readIdempotencyKey(event),
        admitted: rateLimit.admitted,
        deadline,
        log,
        journal,
      },
      deps,
    )
    const { document, isReplayed, usage } = promotion
    event.exchange.counts = countsOf(promotion)
    return {
      statusCode: 200,
      headers: {
        ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)),
        ...(isReplayed && { 'idempotency-replayed': 'true' }),
      },
      body: JSON.stringify(fileResponse(document, shape)),
    }
  }

  // The deadline of the exchange bounds every call; middy's own early timeout would cut the undo short.
  return middy<ApiEvent, APIGatewayProxyResult>({ timeoutEarlyInMillis: 0 })
    .use(openExchange(deps))
    .use(reportOutcome(deps))
    .use(answerErrors())
    .use(authenticateCaller(deps))
    .use(limitRate(deps))
    .use(authorizeCaller('files:promote'))
    .handler(promote)
}

function countsOf({ document, isReplayed, usage }: Promotion): MetricValues {
  if (isReplayed) return { Replays: 1 }
  const isNearlyFull = usage !== undefined && usage.usedBytes >= NEARLY_FULL * usage.quotaBytes
  return { Promotions: 1, PromotedBytes: document.sizeBytes, ...(isNearlyFull && { QuotaNearlyFull: 1 }) }
}
