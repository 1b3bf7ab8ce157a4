import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../auth/caller.ts'
import { type Reason, ServiceError } from '../errors.ts'
import { type AttemptId, documentIdOfAttempt, newAttemptId, parseContainerId, parseFileId } from '../ids.ts'
import type { RequestScope } from '../request-scope.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import type { WorkspaceDocument } from './document-records.ts'
import { findContainerFile } from './find-container-file.ts'
import { documentIdOfKey, findReplay, type PromotionTarget } from './idempotency.ts'
import type { ContainerFile } from './object-store.ts'
import type { StorageUsage } from './quota-ledger.ts'
import type { ReserveDependencies } from './reserve-bytes.ts'

export interface PromotionRequest extends RequestScope {
  caller: Caller
  /** Unchecked. */
  containerId: string | undefined
  fileId: string | undefined
  /** Promotions of a workspace with the same key make one document. */
  idempotencyKey: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups run in parallel; nothing is written before it resolves. */
  rateLimitPassed: Promise<unknown>
}

export interface PromotionDependencies extends ReserveDependencies {
  maxFileBytes: number
}

export interface Promotion {
  document: WorkspaceDocument
  /** An earlier request with the same idempotency key made the document. */
  isReplayed: boolean
  /** undefined when a replay could not read it. */
  usage: StorageUsage | undefined
}

export type NewPromotion = PromotionTarget & { attemptId: AttemptId }

/** A twin takes its bytes up to this long before its reservation can be seen. */
const TWIN_HIDDEN_MS = 100

const RECHECK_FOR_REPLAY = new Set<string>([
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
 * @throws ServiceError, or what {@link PromotionRequest.rateLimitPassed} rejects with
 */
export async function promoteContainerFile(request: PromotionRequest, deps: PromotionDependencies): Promise<Promotion> {
  const { idempotencyKey, rateLimitPassed, deadline, telemetry } = request
  const target = parseTarget(request)
  telemetry.annotate({ container_id: target.containerId })

  const lookup = telemetry.time('look_up', () => findContainerFile(target, deps, deadline.signal))
  // A replay does not await it: it does not matter whether the file still exists.
  lookup.catch(() => {})

  if (idempotencyKey !== undefined) {
    const replay = await findReplay(target, request.caller, deps.documents, deadline.signal)
    await rateLimitPassed
    if (replay) return answerReplay(replay, request, deps)
  }

  try {
    const file = await lookup
    requirePromotableSize(file, deps.maxFileBytes)
    await rateLimitPassed
    return await attemptPromotion(target, file, request, deps)
  } catch (error) {
    if (idempotencyKey === undefined || !mayHaveReplay(error)) throw error
    return answerBesideTwin(error, target, request, deps)
  }
}

/** A twin with the same idempotency key may have been faster: then its document is the answer. */
async function answerBesideTwin(
  refusal: ServiceError,
  target: NewPromotion,
  request: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { signal } = request.deadline
  if (refusal.reason === 'storage_quota_exceeded') await sleep(TWIN_HIDDEN_MS)

  // The reservation first: a twin without one has recorded its document, or never will.
  const isUnderWay = (await deps.reservations.find(target, signal)) !== undefined
  const replay = await findReplay(target, request.caller, deps.documents, signal)
  if (replay) return answerReplay(replay, request, deps)

  throw isUnderWay && refusal.reason !== 'promotion_in_progress'
    ? new ServiceError('promotion_in_progress', { cause: refusal })
    : refusal
}

/** Whether a faster twin may have caused the error, or have a better answer. */
function mayHaveReplay(error: unknown): error is ServiceError {
  return error instanceof ServiceError && RECHECK_FOR_REPLAY.has(error.reason)
}

function parseTarget({ caller, containerId, fileId, idempotencyKey }: PromotionRequest): NewPromotion {
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
  { deadline, log, telemetry }: PromotionRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  telemetry.annotate({ document_id: document.documentId, size_bytes: document.sizeBytes, is_replayed: true })
  const usage = await deps.ledger.usage(document.workspaceId, deadline.signal).catch((error) => {
    log.warn('storage usage not read, replay answered without it', { error })
    return undefined
  })
  return { document, isReplayed: true, usage }
}
