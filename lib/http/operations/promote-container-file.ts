import type { StorageUsage } from '../../ledger/ports/quota-ledger.ts'
import type { MetricValues } from '../../metrics.ts'
import { promoteContainerFile } from '../../promotion/promote-container-file.ts'
import type { Promotion, PromotionDependencies } from '../../promotion/promotion.ts'
import type { Operation } from '../api-handler.ts'
import { expiryHeader, readExpiresIn } from '../expires-in.ts'
import { fileResponse, sha256Header, storageUsageHeaders } from '../file-response.ts'
import { chooseShape } from '../file-shape.ts'
import { readIdempotencyKey } from '../idempotency-key.ts'
import { readPreconditions } from '../preconditions.ts'

/** From this share of the quota on, a promotion counts as QuotaNearlyFull. */
const NEARLY_FULL = 0.9

/** POST /v1/containers/{container_id}/files/{file_id}/promote (docs/openapi.yaml, promoteContainerFile) */
export function promoteContainerFileOperation(deps: PromotionDependencies): Operation {
  return {
    name: 'promote_container_file',
    async handle({ event, caller, state, rateLimitPassed }) {
      const { deadline, log, telemetry } = state
      const answerShape = chooseShape(event)
      const idempotencyKey = readIdempotencyKey(event)
      const preconditions = readPreconditions(event)
      const expiresInSeconds = readExpiresIn(event)
      if (preconditions.waitMs) state.responseHeaders['preference-applied'] = 'wait'
      const promotion = await promoteContainerFile(
        {
          caller,
          containerId: event.pathParameters?.container_id,
          fileId: event.pathParameters?.file_id,
          idempotencyKey,
          preconditions,
          expiresInSeconds,
          rateLimitPassed,
          deadline,
          log,
          telemetry,
        },
        deps,
      )
      const { document, isReplayed, usage } = promotion
      state.counts = countsOf(promotion)
      return {
        statusCode: 200,
        headers: {
          ...sha256Header(document),
          ...expiryHeader(promotion.expiry),
          ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)),
          ...(isReplayed && { 'idempotency-replayed': 'true' }),
        },
        body: JSON.stringify(fileResponse(document, answerShape)),
      }
    },
  }
}

function countsOf({ document, isReplayed, usage }: Promotion): MetricValues {
  if (isReplayed) return { Replays: 1 }
  return { Promotions: 1, PromotedBytes: document.sizeBytes, ...(isNearlyFull(usage) && { QuotaNearlyFull: 1 }) }
}

export function isNearlyFull(usage: StorageUsage | undefined): boolean {
  return usage !== undefined && usage.usedBytes >= NEARLY_FULL * usage.quotaBytes
}
