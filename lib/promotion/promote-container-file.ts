import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import { requireReadable, requireRegular, whyDifferent, whyMissing } from '../containers/require-container-file.ts'
import { type Reason, ServiceError } from '../errors.ts'
import { documentIdOfAttempt, newAttemptId, parseContainerId, parseFileId } from '../ids.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfKey } from './idempotency.ts'
import { replay } from './keep-document.ts'
import { isMeant, startWaiting } from './preconditions.ts'
import type {
  AttemptRequest,
  Promotion,
  PromotionDependencies,
  PromotionRequest,
  PromotionTarget,
} from './promotion.ts'

/** A faster twin may have caused these, or may have a better answer. */
const RECHECK_FOR_TWIN = new Set<string>([
  'container_not_found',
  'container_file_not_found',
  'container_file_differs',
  'container_file_not_regular',
  'container_file_archived',
  'container_file_encrypted',
  'container_file_requester_pays',
  'file_too_large',
  'sha256_unavailable',
  'promotion_in_progress',
  'service_unavailable',
] satisfies Reason[])

/**
 * Copies a container file into the workspace's durable document storage (openapi.yaml, `promoteContainerFile`). When it
 * throws, there is no new document and nothing stays counted.
 * @throws ServiceError, or what {@link PromotionRequest.rateLimitPassed} rejects with
 */
export async function promoteContainerFile(request: PromotionRequest, deps: PromotionDependencies): Promise<Promotion> {
  const { idempotencyKey, preconditions, rateLimitPassed, deadline, telemetry } = request
  const { signal } = deadline
  let target = parseTarget(request)
  telemetry.annotate({ container_id: target.containerId })
  const nextPauseMs = startWaiting(preconditions, deadline)
  const differing = new Set<string>()
  const sourceKey = deps.objectKeys.sandboxFile(target)

  try {
    for (let waitedMs = 0; ; ) {
      let refusal: ServiceError | undefined
      const file = await telemetry.time('look_up', () => deps.objects.findContainerFile(sourceKey, signal))
      if (file && isMeant(file, preconditions) && !differing.has(file.etag)) {
        requirePromotable(file, target, request, deps)
        await rateLimitPassed
        const promotion = await attemptPromotion(target, file, request, deps).catch(unlessOther)
        if (!(promotion instanceof ServiceError)) return promotion
        refusal = promotion
        if (refusal.reason === 'container_file_differs') differing.add(file.etag)
      }

      const pauseMs = nextPauseMs()
      if (pauseMs === undefined) {
        refusal ??= file ? whyDifferent(file, target) : await whyMissing(target, deps, signal)
        throw afterWaiting(refusal, waitedMs)
      }
      await rateLimitPassed
      if (idempotencyKey !== undefined && waitedMs === 0) {
        const { earlier } = await replay(target, request, deps)
        if (earlier) return earlier
      }
      await sleep(pauseMs)
      waitedMs += pauseMs
      // The attempt was undone: the next has an id of its own.
      if (refusal) target = parseTarget(request)
    }
  } catch (error) {
    const mayTwinHaveWon = error instanceof ServiceError && RECHECK_FOR_TWIN.has(error.reason)
    if (idempotencyKey === undefined || !mayTwinHaveWon) throw error
    return answerAsTwinIfItWon(error, target, request, deps)
  }
}

function afterWaiting(refusal: ServiceError, waitedMs: number): ServiceError {
  if (waitedMs === 0) return refusal
  const detail = `${refusal.detail} The request waited ${Math.round(waitedMs / 1000)} seconds for it.`
  return new ServiceError(refusal.reason, { ...refusal, detail, cause: refusal })
}

/** What was copied had another SHA-256, or the file became another one meanwhile: who waits may yet get the one meant. */
function unlessOther(error: unknown): ServiceError {
  const isOther = error instanceof ServiceError && /^container_file_(differs|changed)$/.test(error.reason)
  if (!isOther) throw error
  return error
}

/** If another request with the same idempotency key has made the document, that is the answer instead of the error. */
async function answerAsTwinIfItWon(
  refusal: ServiceError,
  target: PromotionTarget,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { signal } = request.deadline
  // The claim or reservation is read first: a twin without one has recorded its document, or never will.
  const other = await deps.reservations.find(target, signal)
  const isInProgress = other !== undefined && other.attemptId !== target.attemptId
  const { earlier } = await replay(target, request, deps)
  if (earlier) return earlier

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
