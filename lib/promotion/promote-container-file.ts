import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../auth/caller.ts'
import { type Reason, ServiceError } from '../errors.ts'
import type { Journal } from '../journal.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import { findContainerFile } from './find-container-file.ts'
import { documentIdOfKey, findReplay, type IdempotentTask } from './idempotency.ts'
import { type AttemptId, documentIdOfAttempt, newAttemptId, parseContainerId, parseFileId } from './ids.ts'
import { resolveMimeType } from './mime-type.ts'
import { openReservation } from './open-reservation.ts'
import type { ContainerFile, Reservation, StorageUsage, WorkspaceDocument } from './ports.ts'
import { type ReserveDependencies, takeBytes } from './reserve-bytes.ts'
import { settle } from './take-back.ts'
import { type Progress, undo } from './undo.ts'

export interface PromotionRequest {
  caller: Caller
  /** As they came, not yet checked. */
  containerId: string | undefined
  fileId: string | undefined
  /** Promotions of a workspace with the same key make one document. */
  idempotencyKey: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups go on beside it; nothing is written before it resolves. */
  admitted: Promise<unknown>
  deadline: Deadline
  log: Log
  journal: Journal
}

export interface PromotionDependencies extends ReserveDependencies {
  maxFileBytes: number
}

export interface Promotion {
  document: WorkspaceDocument
  /** The document was there before this request, by its idempotency key. */
  isReplayed: boolean
  /** undefined when a replay could not read it. */
  usage: StorageUsage | undefined
}

type PromotionTask = IdempotentTask & { attemptId: AttemptId }

interface Attempt {
  file: ContainerFile
  document: WorkspaceDocument
  reservation: Reservation
  progress: Progress
}

/** A twin takes its bytes this much before its reservation can be seen. */
const TWIN_HIDDEN_MS = 100

const TWIN_REFUSALS = new Set<string>([
  'container_not_found',
  'container_file_not_found',
  'container_file_archived',
  'container_file_encrypted',
  'container_file_requester_pays',
  'file_too_large',
  'storage_quota_exceeded',
  'too_many_promotions',
  'promotion_in_progress',
] satisfies Reason[])

/**
 * Copies a container file into the workspace's durable document storage (interface.md §4). When it throws, there is no
 * new document and nothing stays counted.
 *
 * @param request the caller authenticated and allowed to promote
 * @throws ServiceError; {@link PromotionRequest.admitted}'s own error
 */
export async function promoteContainerFile(request: PromotionRequest, deps: PromotionDependencies): Promise<Promotion> {
  const { idempotencyKey, admitted, deadline, journal } = request
  const task = identifyTask(request)
  journal.note({ container_id: task.containerId })
  const lookup = journal.time('look_up', () => findContainerFile(task, deps, deadline.signal))
  // Until it is awaited: a replay does not care whether the file is still there.
  lookup.catch(() => {})
  if (idempotencyKey !== undefined) {
    const replay = await findReplay(task, deps.documents, deadline.signal)
    await admitted
    if (replay) return answerReplay(replay, request, deps)
  }
  try {
    const file = await lookup
    requirePromotableSize(file, deps.maxFileBytes)
    await admitted
    return await promoteNew(task, file, request, deps)
  } catch (error) {
    if (idempotencyKey === undefined || !mayBeForTwin(error)) throw error
    if (error.reason === 'storage_quota_exceeded') await sleep(TWIN_HIDDEN_MS)
    // The reservation first: a twin that has none any more has recorded its document, or never will.
    const isUnderWay = (await deps.reservations.find(task, deadline.signal)) !== undefined
    const replay = await findReplay(task, deps.documents, deadline.signal)
    if (replay) return answerReplay(replay, request, deps)
    throw isUnderWay && error.reason !== 'promotion_in_progress'
      ? new ServiceError('promotion_in_progress', { cause: error })
      : error
  }
}

/** Whether a twin with the same idempotency key that was faster may be the reason, or may have a better answer. */
function mayBeForTwin(error: unknown): error is ServiceError {
  return error instanceof ServiceError && TWIN_REFUSALS.has(error.reason)
}

function identifyTask({ caller, containerId, fileId, idempotencyKey }: PromotionRequest): PromotionTask {
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

function requirePromotableSize(file: ContainerFile, maxFileBytes: number): void {
  if (file.sizeBytes > maxFileBytes) {
    throw new ServiceError('file_too_large', {
      metadata: { file_bytes: file.sizeBytes, max_file_bytes: maxFileBytes },
    })
  }
}

async function answerReplay(
  document: WorkspaceDocument,
  { deadline, log, journal }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  journal.note({ document_id: document.documentId, size_bytes: document.sizeBytes, is_replayed: true })
  const usage = await deps.ledger.usage(document.workspaceId, deadline.signal).catch((error) => {
    log.warn('storage usage not read, replay answered without it', { error })
    return undefined
  })
  return { document, isReplayed: true, usage }
}

/** Reserve, copy, record, settle. */
async function promoteNew(
  task: PromotionTask,
  file: ContainerFile,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, containerId, path } = task
  const ids = { workspaceId, documentId, attemptId: task.attemptId }
  const reservation: Reservation = {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: deps.objectKeys.documentObject(ids),
    leaseExpiresAtMs: deps.now() + deps.leaseMs,
  }
  request.journal.note({ document_id: documentId, attempt_id: ids.attemptId, size_bytes: file.sizeBytes })
  const mimeType = await resolveMimeType(file.contentType, path)
  const usage = await takeBytes(reservation, request, deps)

  const document: WorkspaceDocument = {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: reservation.objectKey,
    filename: path,
    mimeType,
    createdAt: new Date(deps.now()),
    containerId,
    createdBy: request.caller.keyId,
  }
  const progress: Progress = { reservation: 'none', copy: 'none', unmarked: Promise.resolve(false) }
  try {
    await reserveAndCopy({ file, document, reservation, progress }, request, deps)
    await record(document, request, deps)
  } catch (error) {
    if ((await undo(reservation, progress, request, deps)) !== 'recorded') throw error
  }
  await settleQuietly(reservation, progress, request, deps)
  return { document, isReplayed: false, usage }
}

/**
 * The bytes are taken, so nothing keeps the copy waiting for the reservation, unless twins may meet at it. When one of them
 * fails, the other one is not broken off: what was answered is easier to undo.
 */
async function reserveAndCopy(
  { file, document, reservation, progress }: Attempt,
  { deadline, journal, idempotencyKey }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const opening = openReservation(reservation, progress, deps, deadline.signal)
  progress.unmarked = opening
    .then(() => deps.ledger.unmark(reservation, deadline.signal))
    .then(
      () => true,
      () => false,
    )
  if (idempotencyKey !== undefined) await opening
  const copy = { source: file, targetKey: document.objectKey, mimeType: document.mimeType }
  progress.copy = 'answered'
  const [opened, copied] = await Promise.allSettled([
    opening,
    journal.time('copy', () => deps.objects.copy(copy, deadline.signal)),
  ])
  if (copied.status === 'rejected') {
    if (copied.reason instanceof ServiceError && copied.reason.isUnanswered) progress.copy = 'unanswered'
    throw copied.reason
  }
  if (opened.status === 'rejected') throw opened.reason
}

async function record(
  document: WorkspaceDocument,
  { deadline, journal }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const outcome = await journal.time('record', () => deps.documents.record(document, deadline.signal))
  if (outcome !== 'recorded') {
    throw new ServiceError(outcome === 'fenced' ? 'promotion_timed_out' : 'promotion_in_progress')
  }
}

/** The document is there and counted: a reservation that could not be settled is the resolver's work, not a failure. */
async function settleQuietly(
  reservation: Reservation,
  { unmarked }: Progress,
  { deadline, log, journal }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  try {
    await journal.time('settle', async () => {
      if (await unmarked) await deps.reservations.remove(reservation, signal)
      else await settle(reservation, deps, signal)
    })
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: reservation.documentId, error })
  }
}
