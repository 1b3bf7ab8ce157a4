import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import {
  requireReadable,
  requireRegular,
  requireSize,
  whyDifferent,
  whyMissing,
} from '../containers/require-container-file.ts'
import { rowOf, ServiceError } from '../errors.ts'
import { documentIdOfAttempt, newAttemptId, parseContainerId, parseFileId } from '../ids.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfKey, replay } from './idempotency.ts'
import { fileMatches, pausesOf } from './preconditions.ts'
import type {
  AttemptRequest,
  Promotion,
  PromotionDependencies,
  PromotionRequest,
  PromotionTarget,
} from './promotion.ts'
import { createRoom } from './room.ts'

type RequestWithRoom = PromotionRequest & AttemptRequest

/**
 * When it throws, there is no new document and nothing stays counted.
 * @throws ServiceError, or what rateLimitPassed rejects with
 */
export async function promoteContainerFile(
  callerRequest: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { caller, idempotencyKey, telemetry } = callerRequest
  const room = createRoom(caller.workspaceId, callerRequest, deps)
  const request = { ...callerRequest, room, mayHaveTwin: idempotencyKey !== undefined }
  const target = parseTarget(request)
  telemetry.annotate({ container_id: target.containerId })
  const promotion = await promote(target, request, deps).catch((error) =>
    replayTwinOrRethrow(error, target, request, deps),
  )
  return { usage: await room.ledger().catch(() => undefined), ...promotion }
}

async function promote(target: PromotionTarget, request: RequestWithRoom, deps: PromotionDependencies) {
  const { idempotencyKey, preconditions, rateLimitPassed, deadline, room } = request
  // Starts beside the lookup. If it fails, the first to await it gets the error.
  room.ledger().catch(() => {})
  const found = await lookUp(target, request, deps)
  const pausesMs = isWanted(found, request) ? [] : pausesOf(preconditions, deadline)
  await rateLimitPassed
  if (pausesMs.length > 0 && idempotencyKey !== undefined) {
    const earlier = await replay(target, await deps.documents.find(target, deadline.signal), request, deps)
    if (earlier) return earlier
  }
  const file = await waitFor(target, found, pausesMs, request, deps)
  requirePromotable(file, target, request, deps)
  return attemptPromotion(target, file, request, deps)
}

function lookUp(target: PromotionTarget, { telemetry, deadline }: RequestWithRoom, deps: PromotionDependencies) {
  const sourceKey = deps.objectKeys.sandboxFile(target)
  return telemetry.time('look_up', () => deps.objects.findContainerFile(sourceKey, deadline.signal))
}

const isWanted = (file: ContainerFile | undefined, { preconditions }: RequestWithRoom): file is ContainerFile =>
  file !== undefined && fileMatches(file, preconditions)

/** Looks again after each pause, until the file satisfies the preconditions. Each look counts as a request. */
async function waitFor(
  target: PromotionTarget,
  found: ContainerFile | undefined,
  pausesMs: readonly number[],
  request: RequestWithRoom,
  deps: PromotionDependencies,
): Promise<ContainerFile> {
  let file = found
  const whyUnwanted = async () =>
    file ? whyDifferent(file, target, request.preconditions?.etags) : whyMissing(target, deps, request.deadline.signal)
  if (isWanted(file, request)) return file
  for (const pauseMs of pausesMs) {
    await request.telemetry.time('wait', () => sleep(pauseMs))
    if ((await request.countMore(1)) === 0) {
      const refusal = await whyUnwanted()
      const retryAfterSeconds = Math.max(1, Math.ceil(request.pauseMs(1) / 1000))
      throw new ServiceError(refusal.reason, { ...refusal, retryAfterSeconds, cause: refusal })
    }
    file = await lookUp(target, request, deps)
    if (isWanted(file, request)) return file
  }
  throw await whyUnwanted()
}

/** If another request with the same idempotency key has made the document, that is the answer instead of the error. */
async function replayTwinOrRethrow(
  refusal: unknown,
  target: PromotionTarget,
  request: RequestWithRoom,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const mayTwinHaveWon = refusal instanceof ServiceError && rowOf(refusal).twin
  if (request.idempotencyKey === undefined || !mayTwinHaveWon) throw refusal
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
  deps: PromotionDependencies,
): void {
  requireRegular(file, target)
  requireReadable(file, target)
  requireSize(file.sizeBytes, deps)
  const needsSha256 = preconditions?.sha256 !== undefined
  if (needsSha256 && !deps.objects.copiesWhole(file.sizeBytes)) throw new ServiceError('sha256_unavailable')
}
