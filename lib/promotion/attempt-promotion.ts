import { ServiceError } from '../errors.ts'
import type { FilePath } from '../ids.ts'
import { claimDocument } from './claim-document.ts'
import type { WorkspaceDocument } from './document-records.ts'
import { type Progress, settle, undoOrLeave } from './end-attempt.ts'
import { namingArchived } from './find-container-file.ts'
import { findReplay } from './idempotency.ts'
import { resolveMimeType } from './mime-type.ts'
import type { ContainerFile } from './object-store.ts'
import type { NewPromotion, Promotion, PromotionDependencies, PromotionRequest } from './promote-container-file.ts'
import type { TakenBytes } from './quota-ledger.ts'
import type { Reservation } from './reservations.ts'
import { takeBytes } from './reserve-bytes.ts'
import { TELLING_BYTES, typeOfContent } from './type-of-content.ts'

interface Attempt {
  file: ContainerFile
  document: WorkspaceDocument
  reservation: Reservation
  progress: Progress
}

/**
 * Claims the document if there is an Idempotency-Key, takes the bytes, reserves, copies, records, settles. If a step
 * fails, undoes everything before it throws.
 * @returns `isReplayed`, without usage, when an earlier request has made the document
 */
export async function attemptPromotion(
  target: NewPromotion,
  file: ContainerFile,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, containerId, path } = target
  const ids = { workspaceId, documentId, attemptId: target.attemptId }
  const wanted: Reservation = {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: deps.objectKeys.documentObject(ids),
    leaseExpiresAtMs: deps.now() + deps.leaseMs,
  }
  request.telemetry.annotate({ document_id: documentId, attempt_id: ids.attemptId, size_bytes: file.sizeBytes })

  const typing = typeOf(file, path, request, deps)
  const progress: Progress = { isTaken: false, reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }
  const taken = await claimAndTake(target, wanted, progress, request, deps)
  if ('documentId' in taken) return { document: taken, isReplayed: true, usage: undefined }

  const { usage, countedFrom } = taken

  const reservation = { ...wanted, countedFrom }
  const document: WorkspaceDocument = {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: reservation.objectKey,
    countedFrom,
    filename: path,
    mimeType: await typing,
    createdAt: new Date(deps.now()),
    containerId,
    createdBy: request.caller.keyId,
  }

  try {
    await reserveAndCopy({ file, document, reservation, progress }, request, deps)
    await record(document, request, deps)
  } catch (error) {
    if ((await undoOrLeave(reservation, progress, request, deps)) !== 'recorded') throw error
  }

  await settleQuietly(reservation, progress, request, deps)
  return { document, isReplayed: false, usage }
}

/**
 * Twins meet before they take bytes, so that none takes the room of another promotion.
 * @returns the document that an earlier one has made, instead
 */
async function claimAndTake(
  target: NewPromotion,
  reservation: Reservation,
  progress: Progress,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<TakenBytes | WorkspaceDocument> {
  const { signal } = request.deadline
  try {
    if (request.idempotencyKey !== undefined) {
      await claimDocument(reservation, progress, deps, signal)
      const replay = await findReplay(target, request.caller, deps.documents, signal)
      if (replay) {
        await undoOrLeave(reservation, progress, request, deps)
        return replay
      }
    }
    return await takeBytes(reservation, progress, request, deps)
  } catch (error) {
    await undoOrLeave(reservation, progress, request, deps)
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
      typeOfContent(await objects.readStart(file, TELLING_BYTES, deadline.signal)),
    )
  } catch (error) {
    log.warn('the type of a file could not be detected', { error })
    return resolveMimeType(file.contentType, path)
  }
}

/**
 * The bytes are taken, so the copy need not wait for the reservation. If one fails, the other runs to its end: what was
 * answered is easier to undo.
 */
async function reserveAndCopy(
  { file, document, reservation, progress }: Attempt,
  { deadline, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const opening = openReservation(reservation, progress, deps, deadline.signal)
  progress.unmarked = opening
    .then(() => deps.ledger.unmark(reservation, deadline.signal))
    .then(
      () => true,
      () => false,
    )

  const copy = { source: file, targetKey: document.objectKey, mimeType: document.mimeType }
  progress.copy = 'answered'
  const [opened, copied] = await Promise.allSettled([
    opening,
    telemetry.time('copy', () => deps.objects.copy(copy, deadline.signal)),
  ])

  if (copied.status === 'rejected') {
    if (copied.reason instanceof ServiceError && copied.reason.isUnanswered) progress.copy = 'unanswered'
    throw namingArchived(copied.reason, { containerId: document.containerId, path: document.filename })
  }
  if (opened.status === 'rejected') throw opened.reason
}

/** @throws ServiceError promotion_timed_out when somebody took this attempt for dead */
async function openReservation(
  reservation: Reservation,
  progress: Progress,
  { reservations }: PromotionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const before = progress.reservation
  progress.reservation = 'unknown'
  const outcome = await reservations.open(reservation, before === 'claimed', signal)
  progress.reservation = outcome === 'opened' ? 'open' : before
  if (outcome === 'opened') return
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
  reservation: Reservation,
  { unmarked }: Progress,
  { deadline, log, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  try {
    await telemetry.time('settle', async () => {
      if (await unmarked) await deps.reservations.remove(reservation, signal)
      else await settle(reservation, deps, signal)
    })
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: reservation.documentId, error })
  }
}
