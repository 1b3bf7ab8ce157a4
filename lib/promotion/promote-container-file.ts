import type { Caller } from '../auth/caller.ts'
import { ServiceError } from '../errors.ts'
import type { Log } from '../logging.ts'
import type { Deadline } from './deadline.ts'
import { findContainerFile } from './find-container-file.ts'
import { newAttemptId, newDocumentId, parseContainerId, parseFileId } from './ids.ts'
import { resolveMimeType } from './mime-type.ts'
import type { ObjectKeys } from './object-keys.ts'
import type {
  ContainerFile,
  DocumentRecords,
  ObjectStore,
  QuotaLedger,
  Reservation,
  StorageUsage,
  WorkspaceDocument,
} from './ports.ts'
import { type Step, undoPromotion } from './undo-promotion.ts'

export interface PromotionRequest {
  caller: Caller
  /** As they came, not yet checked. */
  containerId: string | undefined
  fileId: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups go on beside it; nothing is written before it resolves. */
  admitted: Promise<unknown>
  deadline: Deadline
  log: Log
}

export interface PromotionDependencies {
  objects: ObjectStore
  ledger: QuotaLedger
  documents: DocumentRecords
  objectKeys: ObjectKeys
  maxFileBytes: number
  /** How long a reservation is left alone; longer than the process can live. */
  leaseMs: number
  now(): number
}

export interface Promotion {
  document: WorkspaceDocument
  usage: StorageUsage
}

/**
 * Copies a container file into the workspace's durable document storage (interface.md §4). When it throws, there is no
 * new document and nothing stays counted.
 *
 * @param request the caller authenticated and allowed to promote
 * @throws ServiceError; {@link PromotionRequest.admitted}'s own error
 */
export async function promoteContainerFile(request: PromotionRequest, deps: PromotionDependencies): Promise<Promotion> {
  const { caller, deadline } = request
  const containerId = parseContainerId(request.containerId)
  const path = parseFileId(request.fileId)
  const file = await findContainerFile({ workspaceId: caller.workspaceId, containerId, path }, deps, deadline.signal)
  requirePromotableSize(file, deps.maxFileBytes)
  const mimeType = await resolveMimeType(file.contentType, path)
  await request.admitted

  const reservation = draftReservation(caller, file, deps)
  const usage = await reserveBytes(reservation, request, deps)
  const document: WorkspaceDocument = {
    ...reservation,
    filename: path,
    mimeType,
    createdAt: new Date(deps.now()),
    containerId,
    createdBy: caller.keyId,
  }
  await copyAndRecord({ file, document, reservation }, request, deps)
  await settleQuietly(reservation, request, deps)
  return { document, usage }
}

function requirePromotableSize(file: ContainerFile, maxFileBytes: number): void {
  if (file.sizeBytes > maxFileBytes) {
    throw new ServiceError('file_too_large', {
      metadata: { file_bytes: file.sizeBytes, max_file_bytes: maxFileBytes },
    })
  }
}

function draftReservation(caller: Caller, file: ContainerFile, deps: PromotionDependencies): Reservation {
  const ids = { workspaceId: caller.workspaceId, documentId: newDocumentId(), attemptId: newAttemptId() }
  return {
    ...ids,
    sizeBytes: file.sizeBytes,
    objectKey: deps.objectKeys.documentObject(ids),
    leaseExpiresAtMs: deps.now() + deps.leaseMs,
  }
}

async function reserveBytes(
  reservation: Reservation,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<StorageUsage> {
  const reserved = await deps.ledger.reserve(reservation, request.deadline.signal).catch(async (error) => {
    // Whether the bytes were taken is unknown: give them back if they were.
    await undoPromotion(reservation, 'reserve', { ...deps, log: request.log }, request.deadline.undoSignal())
    throw error
  })
  switch (reserved.outcome) {
    case 'reserved':
      return reserved.usage
    case 'quota_exceeded':
      throw new ServiceError('storage_quota_exceeded', {
        metadata: {
          quota_bytes: reserved.usage.quotaBytes,
          used_bytes: reserved.usage.usedBytes,
          file_bytes: reservation.sizeBytes,
        },
      })
    case 'too_many_reservations':
      throw new ServiceError('too_many_promotions')
    case 'in_progress':
      throw new ServiceError('promotion_in_progress')
  }
}

async function copyAndRecord(
  { file, document, reservation }: { file: ContainerFile; document: WorkspaceDocument; reservation: Reservation },
  { deadline, log }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  let reached: Step = 'copy'
  try {
    const copy = { source: file, targetKey: document.objectKey, mimeType: document.mimeType }
    await deps.objects.copy(copy, deadline.signal)
    reached = 'record'
    const outcome = await deps.documents.record(document, deadline.signal)
    if (outcome !== 'recorded') {
      throw new ServiceError(outcome === 'fenced' ? 'promotion_timed_out' : 'promotion_in_progress')
    }
  } catch (error) {
    const undone = await undoPromotion(reservation, reached, { ...deps, log }, deadline.undoSignal())
    if (undone !== 'recorded') throw error
  }
}

/** The document is there and counted: a reservation that could not be settled is the resolver's work, not a failure. */
async function settleQuietly(
  reservation: Reservation,
  { deadline, log }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<void> {
  try {
    await deps.ledger.settle(reservation, deadline.undoSignal())
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: reservation.documentId, error })
  }
}
