import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import { requireReadable, requireRegular, whyDifferent, whyMissing } from '../containers/require-container-file.ts'
import { rowOf, ServiceError } from '../errors.ts'
import { documentIdOfAttempt, newAttemptId, parseContainerId, parseFileId } from '../ids.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfKey, replay } from './idempotency.ts'
import { isMeant, startWaiting } from './preconditions.ts'
import type {
  AttemptRequest,
  Promotion,
  PromotionDependencies,
  PromotionRequest,
  PromotionTarget,
} from './promotion.ts'
import { createRoom } from './room.ts'

/**
 * Copies a container file into the workspace's durable document storage (openapi.yaml, `promoteContainerFile`). When it
 * throws, there is no new document and nothing stays counted.
 * @throws ServiceError, or what {@link PromotionRequest.rateLimitPassed} rejects with
 */
export async function promoteContainerFile(
  ofCaller: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { caller, idempotencyKey, preconditions, rateLimitPassed, deadline, telemetry } = ofCaller
  const room = createRoom(caller.workspaceId, ofCaller, deps)
  const request = { ...ofCaller, room, mayHaveTwin: idempotencyKey !== undefined }
  const { signal } = deadline
  const withUsage = async (promotion: Promotion) => ({
    usage: await room.ledger().catch(() => undefined),
    ...promotion,
  })
  let target = parseTarget(request)
  telemetry.annotate({ container_id: target.containerId })
  const nextPauseMs = startWaiting(preconditions, deadline)
  const differing = new Set<string>()
  const sourceKey = deps.objectKeys.sandboxFile(target)
  let endWait: (() => Promise<unknown>) | undefined

  try {
    for (let waitedMs = 0; ; ) {
      let refusal: ServiceError | undefined
      // Beside the lookup; whoever needs it finds its failure.
      room.ledger().catch(() => {})
      const file = await telemetry.time('look_up', () => deps.objects.findContainerFile(sourceKey, signal))
      if (file && isMeant(file, preconditions) && !differing.has(file.etag)) {
        requirePromotable(file, target, request, deps)
        await rateLimitPassed
        try {
          return await withUsage(await attemptPromotion(target, file, request, deps))
        } catch (error) {
          if (!(error instanceof ServiceError && rowOf(error).otherFile)) throw error
          refusal = error
          if (error.reason === 'container_file_differs') differing.add(file.etag)
        }
      }

      const pauseMs = nextPauseMs()
      if (pauseMs === undefined) {
        refusal ??= file ? whyDifferent(file, target, preconditions?.etags) : await whyMissing(target, deps, signal)
        throw afterWaiting(refusal, waitedMs)
      }
      await rateLimitPassed
      if (idempotencyKey !== undefined && waitedMs === 0) {
        const earlier = await replay(target, await deps.documents.find(target, signal), request, deps)
        if (earlier) return await withUsage(earlier)
      }
      endWait ??= await request.beginWait(preconditions?.waitMs ?? 0)
      await telemetry.time('wait', () => sleep(pauseMs))
      waitedMs += pauseMs
      // The attempt was undone: the next has an id of its own.
      if (refusal) target = parseTarget(request)
    }
  } catch (error) {
    const mayTwinHaveWon = error instanceof ServiceError && rowOf(error).twin
    if (idempotencyKey === undefined || !mayTwinHaveWon) throw error
    return await withUsage(await answerAsTwinIfItWon(error, target, request, deps))
  } finally {
    await endWait?.()
  }
}

function afterWaiting(refusal: ServiceError, waitedMs: number): ServiceError {
  if (waitedMs === 0) return refusal
  const detail = `${refusal.detail} The request waited ${Math.round(waitedMs / 1000)} seconds for it.`
  return new ServiceError(refusal.reason, { ...refusal, detail, cause: refusal })
}

/** If another request with the same idempotency key has made the document, that is the answer instead of the error. */
async function answerAsTwinIfItWon(
  refusal: ServiceError,
  target: PromotionTarget,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const item = await deps.documents.find(target, request.deadline.signal)
  const earlier = await replay(target, item, request, deps)
  if (earlier) return earlier
  const isInProgress = item?.state === 'pending' && item.attemptId !== target.attemptId
  throw isInProgress && refusal.reason !== 'promotion_in_progress'
    ? new ServiceError('promotion_in_progress', { cause: refusal })
    : refusal
}

function parseTarget({ caller, containerId, fileId, idempotencyKey }: PromotionRequest): PromotionTarget {
  const { workspaceId } = caller
  const attemptId = newAttemptId()
  return {
    workspaceId,
    containerId: parseContainerId(containerId),
    path: parseFileId(fileId),
    documentId:
      idempotencyKey === undefined ? documentIdOfAttempt(attemptId) : documentIdOfKey(workspaceId, idempotencyKey),
    attemptId,
  }
}

/** @throws ServiceError container_file_not_regular, container_file_archived, file_too_large, sha256_unavailable */
export function requirePromotable(
  file: ContainerFile,
  target: Pick<PromotionTarget, 'containerId' | 'path'>,
  { preconditions }: Pick<AttemptRequest, 'preconditions'>,
  { maxFileBytes, objects }: PromotionDependencies,
): void {
  requireRegular(file, target)
  requireReadable(file, target)
  if (file.sizeBytes > maxFileBytes) {
    throw new ServiceError('file_too_large', {
      metadata: { file_bytes: file.sizeBytes, max_file_bytes: maxFileBytes },
    })
  }
  const needsSha256 = preconditions?.sha256 !== undefined
  if (needsSha256 && !objects.copiesWhole(file.sizeBytes)) throw new ServiceError('sha256_unavailable')
}
