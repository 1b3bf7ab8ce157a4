import type { ContainerFile } from '../containers/container-files.ts'
import { resolveMimeType } from '../containers/mime-type.ts'
import { namingArchived } from '../containers/require-container-file.ts'
import { SNIFFED_BYTES, typeOfContent } from '../containers/type-of-content.ts'
import { ServiceError } from '../errors.ts'
import type { FilePath } from '../ids.ts'
import { settle } from '../ledger/end-attempt.ts'
import type { WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { TakenBytes } from '../ledger/ports/quota-ledger.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import { claimDocument } from './claim-document.ts'
import { findReplay } from './idempotency.ts'
import type { Progress, Promotion, PromotionDependencies, PromotionRequest, PromotionTarget } from './promotion.ts'
import { takeBytes } from './take-bytes.ts'
import { undoOrLeave } from './undo-promotion.ts'

/**
 * Claims the document if there is an Idempotency-Key, takes the bytes, reserves, copies, records, settles. If a step
 * fails, undoes everything before it throws.
 * @returns `isReplayed`, without usage, when an earlier request has made the document
 */
export async function attemptPromotion(
  target: PromotionTarget,
  file: ContainerFile,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, attemptId, containerId, path } = target
  const ids = { workspaceId, documentId, attemptId }
  const { sizeBytes } = file
  const objectKey = deps.objectKeys.documentObject(ids)
  const attempt: Attempt = { ...ids, sizeBytes, objectKey, leaseExpiresAtMs: deps.now() + deps.leaseMs }
  request.telemetry.annotate({ document_id: documentId, attempt_id: attemptId, size_bytes: sizeBytes })

  const typing = typeOf(file, path, request, deps)
  const progress: Progress = { isTaken: false, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }
  const taken = await claimAndTake(target, attempt, progress, request, deps)
  if ('documentId' in taken) return { document: taken, isReplayed: true, usage: undefined }

  const { usage, countedFrom } = taken
  const counted = { ...attempt, countedFrom }
  const document: WorkspaceDocument = {
    ...ids,
    sizeBytes,
    objectKey,
    countedFrom,
    filename: path,
    mimeType: await typing,
    createdAt: new Date(deps.now()),
    containerId,
    createdBy: request.caller.keyId,
  }

  try {
    await reserveAndCopy({ file, document, attempt: counted, progress }, request, deps)
    await record(document, request, deps)
  } catch (error) {
    if ((await undoOrLeave(counted, progress, request, deps)) !== 'recorded') throw error
  }

  await settleQuietly(counted, progress, request, deps)
  return { document, isReplayed: false, usage }
}

/**
 * Claims first: twins meet before they take bytes, so that none takes up room that other promotions need.
 * @returns the document, if an earlier request has made it
 */
async function claimAndTake(
  target: PromotionTarget,
  attempt: Attempt,
  progress: Progress,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<TakenBytes | WorkspaceDocument> {
  const { signal } = request.deadline
  try {
    if (request.idempotencyKey !== undefined) {
      progress.reservation = 'claimed'
      const refusal = await claimDocument(attempt, deps, signal)
      if (refusal) {
        progress.reservation = 'none'
        throw refusal
      }
      const replay = await findReplay(target, request.caller, deps.documents, signal)
      if (replay) {
        await undoOrLeave(attempt, progress, request, deps)
        return replay
      }
    }
    progress.isTaken = true
    const taken = await takeBytes(attempt, request, deps)
    if (!(taken instanceof ServiceError)) return taken
    progress.isTaken = false
    throw taken
  } catch (error) {
    await undoOrLeave(attempt, progress, request, deps)
    throw error
  }
}

/** Never fails: a file of unknown type is promoted like any other. */
async function typeOf(
  file: ContainerFile,
  path: FilePath,
  { deadline, log }: PromotionRequest,
  { objects }: PromotionDependencies,
): Promise<string> {
  try {
    return await resolveMimeType(file.contentType, path, async () =>
      typeOfContent(await objects.readStart(file, SNIFFED_BYTES, deadline.signal)),
    )
  } catch (error) {
    log.warn('the type of a file could not be detected', { error })
    return resolveMimeType(file.contentType, path)
  }
}

/**
 * The bytes are taken, so the copy need not wait for the reservation. If one of the two fails, the other runs to its
 * end: a call that was answered is easier to undo.
 */
async function reserveAndCopy(
  step: { file: ContainerFile; document: WorkspaceDocument; attempt: Attempt; progress: Progress },
  { deadline, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const { file, document, attempt, progress } = step
  const reserving = reserve(attempt, progress, deps, deadline.signal)
  progress.unmarked = reserving
    .then(() => deps.quota.unmark(attempt, deadline.signal))
    .then(
      () => true,
      () => false,
    )

  const copy = { source: file, targetKey: document.objectKey, mimeType: document.mimeType }
  progress.copy = 'answered'
  const [reserved, copied] = await Promise.allSettled([
    reserving,
    telemetry.time('copy', () => deps.objects.copy(copy, deadline.signal)),
  ])

  if (copied.status === 'rejected') {
    if (copied.reason instanceof ServiceError && copied.reason.isUnanswered) progress.copy = 'unanswered'
    throw namingArchived(copied.reason, { containerId: document.containerId, path: document.filename })
  }
  if (reserved.status === 'rejected') throw reserved.reason
}

/** @throws ServiceError promotion_timed_out when somebody took this attempt for dead */
async function reserve(
  attempt: Attempt,
  progress: Progress,
  { reservations }: PromotionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const before = progress.reservation
  progress.reservation = 'unknown'
  const outcome = await reservations.reserve(attempt, before === 'claimed', signal)
  progress.reservation = outcome === 'reserved' ? 'reserved' : before
  if (outcome === 'reserved') return
  throw new ServiceError(outcome === 'refused' ? 'promotion_timed_out' : 'service_unavailable')
}

async function record(
  document: WorkspaceDocument,
  { deadline, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const outcome = await telemetry.time('record', () => deps.documents.record(document, deadline.signal))
  if (outcome !== 'recorded') {
    throw new ServiceError(outcome === 'fenced' ? 'promotion_timed_out' : 'promotion_in_progress')
  }
}

/** The document exists and is counted: a reservation that could not be settled is left to the resolver. */
async function settleQuietly(
  attempt: Attempt,
  { unmarked }: Progress,
  { deadline, log, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  try {
    await telemetry.time('settle', async () => {
      if (await unmarked) await deps.reservations.remove(attempt, signal)
      else await settle(attempt, deps, signal)
    })
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: attempt.documentId, error })
  }
}
