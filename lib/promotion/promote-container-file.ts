import type { Caller } from '../auth/caller.ts'
import { type Reason, ServiceError } from '../errors.ts'
import type { Journal } from '../journal.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import { findContainerFile } from './find-container-file.ts'
import { documentIdOfKey, findReplay, type IdempotentTask } from './idempotency.ts'
import { newAttemptId, newDocumentId, parseContainerId, parseFileId } from './ids.ts'
import { resolveMimeType } from './mime-type.ts'
import type { ObjectKeys } from './object-keys.ts'
import type { Closing, ContainerFile, Reservation, StorageUsage, WorkspaceDocument } from './ports.ts'
import { reserveBytes } from './reserve-bytes.ts'
import type { TakeBackDependencies } from './take-back.ts'
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

export interface PromotionDependencies extends TakeBackDependencies {
  objectKeys: ObjectKeys
  maxFileBytes: number
  /** How long a reservation is left alone; longer than the process can live. */
  leaseMs: number
  now(): number
}

export interface Promotion {
  document: WorkspaceDocument
  /** The document was there before this request, by its idempotency key. */
  isReplayed: boolean
  /** undefined when a replay could not read it. */
  usage: StorageUsage | undefined
}

const TWIN_REFUSALS = new Set<string>([
  'container_not_found',
  'container_file_not_found',
  'container_file_archived',
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
    // The reservation first: a twin that has none any more has recorded its document, or never will.
    const isUnderWay = await deps.ledger.isReserved(task, deadline.signal)
    const replay = await findReplay(task, deps.documents, deadline.signal)
    if (replay) return answerReplay(replay, request, deps)
    throw isUnderWay ? new ServiceError('promotion_in_progress', { cause: error }) : error
  }
}

/** Whether a twin with the same idempotency key that was faster may be the reason, or may have a better answer. */
function mayBeForTwin(error: unknown): boolean {
  return error instanceof ServiceError && TWIN_REFUSALS.has(error.reason)
}

function identifyTask({ caller, containerId, fileId, idempotencyKey }: PromotionRequest): IdempotentTask {
  const { workspaceId } = caller
  return {
    workspaceId,
    containerId: parseContainerId(containerId),
    path: parseFileId(fileId),
    documentId: idempotencyKey === undefined ? newDocumentId() : documentIdOfKey(workspaceId, idempotencyKey),
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
  task: IdempotentTask,
  file: ContainerFile,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, containerId, path } = task
  const ids = { workspaceId, documentId, attemptId: newAttemptId() }
  const reservation: Reservation = {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: deps.objectKeys.documentObject(ids),
    leaseExpiresAtMs: deps.now() + deps.leaseMs,
  }
  request.journal.note({ document_id: documentId, attempt_id: ids.attemptId, size_bytes: file.sizeBytes })
  const mimeType = await resolveMimeType(file.contentType, path)
  const { usage, mayRepeat } = await reserveBytes(reservation, request, deps)
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
  const { mayArriveLate } = await copyAndRecord({ file, document, reservation }, request, deps)
  // What may still arrive keeps the reservation's place for a while: nobody deletes the document before.
  await settleQuietly({ ...reservation, mayRepeat: mayRepeat || mayArriveLate }, request, deps)
  return { document, isReplayed: false, usage }
}

/** @returns `mayArriveLate`: a copy that was sent twice may still write the document's object once more */
async function copyAndRecord(
  { file, document, reservation }: { file: ContainerFile; document: WorkspaceDocument; reservation: Reservation },
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<{ mayArriveLate: boolean }> {
  const { deadline, journal } = request
  const progress: Progress = { reached: 'copy', mayArriveLate: false }
  try {
    const copy = { source: file, targetKey: document.objectKey, mimeType: document.mimeType }
    await journal.time('copy', () => deps.objects.copy(copy, deadline.signal))
    progress.reached = 'record'
    const outcome = await journal.time('record', () => deps.documents.record(document, deadline.signal))
    if (outcome !== 'recorded') {
      throw new ServiceError(outcome === 'fenced' ? 'promotion_timed_out' : 'promotion_in_progress')
    }
  } catch (error) {
    if ((await undo(reservation, progress, error, request, deps)) !== 'recorded') throw error
  }
  return progress
}

/** The document is there and counted: a reservation that could not be settled is the resolver's work, not a failure. */
async function settleQuietly(
  reservation: Closing,
  { deadline, log, journal }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  try {
    await journal.time('settle', () => deps.ledger.settle(reservation, deadline.undoSignal()))
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: reservation.documentId, error })
  }
}
