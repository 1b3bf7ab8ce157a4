import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import type { StorageUsage } from '../../ledger/ports/ledger.ts'
import type { MetricValues } from '../../metrics.ts'
import { promoteContainerFile } from '../../promotion/promote-container-file.ts'
import type { PromotionDependencies } from '../../promotion/promotion.ts'
import { answer, contentHeaders, expiryHeader, usageHeaders } from '../answers.ts'
import type { Operations } from '../api-handler.ts'
import { readExpiresIn, readIdempotencyKey, readPreconditions } from '../headers.ts'
import { fileResponse } from '../shapes.ts'

/** From this share of the quota on, a promotion counts as QuotaNearlyFull. */
const NEARLY_FULL = 0.9

export function promotionOperations(deps: PromotionDependencies) {
  return {
    async promote_container_file({ event, caller, state, answerShape, body, ...limit }) {
      const { container_id: containerId, file_id: fileId } = event.pathParameters ?? {}
      const expiresInSeconds = readExpiresIn(event, body)
      const idempotencyKey = readIdempotencyKey(event)
      const preconditions = readPreconditions(event)
      const { waitMs } = preconditions
      if (waitMs) state.responseHeaders['preference-applied'] = `wait=${waitMs / 1000}`
      const ofFile = { containerId, fileId, idempotencyKey, preconditions, expiresInSeconds }
      const { document, isReplayed, ...promotion } = await promoteContainerFile(
        { ...state, ...limit, caller, ...ofFile },
        deps,
      )
      const usage = promotion.usage ?? (await tryToReadUsage({ ...state, ...caller }, deps, state.deadline.signal))
      const { documentId: document_id, sizeBytes: size_bytes } = document
      if (isReplayed) state.telemetry.annotate({ document_id, size_bytes, is_replayed: true })
      state.counts = isReplayed ? { Replays: 1 } : countsOf(1, document.sizeBytes, usage)
      return answer(fileResponse(document, answerShape), {
        ...contentHeaders(document),
        ...expiryHeader(promotion.expiry),
        ...usageHeaders(usage),
        ...(isReplayed && { 'idempotency-replayed': 'true' }),
      })
    },
  } satisfies Operations
}

export function countsOf(Promotions: number, PromotedBytes: number, usage: StorageUsage | undefined): MetricValues {
  const isNearlyFull = usage !== undefined && usage.usedBytes >= NEARLY_FULL * usage.quotaBytes
  return { Promotions, PromotedBytes, ...(isNearlyFull && { QuotaNearlyFull: 1 }) }
}
