import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import { findContainerFile } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type FilePath, newAttemptId } from '../ids.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfFile, findEarlierDocument, isSpent } from './idempotency.ts'
import { requirePromotable } from './promote-container-file.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

/** What a request comes to for one of its files: a document, or why it was refused. */
export interface FileOutcome extends Partial<Promotion> {
  path: FilePath
  outcome: 'promoted' | 'kept' | 'refused'
  error?: ServiceError
}

/** One of the files that a request means, and what is known of it. */
export interface FoundFile {
  location: Pick<PromotionTarget, 'workspaceId' | 'containerId' | 'path'>
  /** Of the list, or of the lookup. */
  etag?: string | undefined
  file?: ContainerFile
  /** Why the lookup has failed. */
  failure?: unknown
}

interface OneOfMany extends FoundFile {
  /** The document that was made of it, as of just now. */
  earlier: WorkspaceDocument | DeletedDocument | undefined
  /** Whether `earlier` is known. */
  hasLookedForEarlier: boolean
  /** Of the whole request: it is done or refused, whatever the time, so that each request makes progress. */
  isFirst: boolean
  /** Copies when it is the file's turn. */
  takeTurn<Result>(sizeBytes: number, copy: () => Promise<Result>): Promise<Result>
}

/** A file that begins later than this before the deadline would hardly be done. */
export const LEAST_WORK_MS = 5000
const PAUSE_MS = 500
/** A twin that lives needs less than this: what a dead one has left is refused until it may be replaced. */
const PATIENCE_FOR_TWIN_MS = 5000
/** With more time these would not have been refusals. */
const PASSES = new Set<string>(['promotion_timed_out', 'too_many_promotions'])

type Request = Omit<AttemptRequest, 'idempotencyKey'>

/** @returns undefined when the time does not suffice; what else goes wrong is the file's own refusal */
export async function promoteOneOfMany(
  one: OneOfMany,
  request: Request,
  deps: PromotionDependencies,
): Promise<FileOutcome | undefined> {
  const { path } = one.location
  const hasTime = () => one.isFirst || request.deadline.leftMs() >= LEAST_WORK_MS
  try {
    if (one.failure !== undefined) throw one.failure
    if (one.earlier && isSpent(one.earlier, deps.now())) throw new ServiceError('idempotency_key_spent')
    if (one.earlier) return { path, outcome: 'kept', document: one.earlier }
    if (!hasTime()) return undefined
    const file = one.file ?? (await findContainerFile(one.location, deps, request.deadline.signal))
    requirePromotable(file, one.location, request, deps)
    const promotion = await one.takeTurn(file.sizeBytes, async () =>
      hasTime() ? attemptPatiently(one, file, request, deps) : undefined,
    )
    return promotion && { path, outcome: promotion.isReplayed ? 'kept' : 'promoted', ...promotion }
  } catch (error) {
    const refused = error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })
    const isOutOfTime = request.deadline.signal.aborted || !hasTime()
    if (isOutOfTime && PASSES.has(refused.reason) && !one.isFirst) return undefined
    if (refused.status >= 500) request.log.error('a file of many was not promoted', { reason: refused.reason, error })
    return { path, outcome: 'refused', error: refused.reason === 'idempotency_key_spent' ? spent() : refused }
  }
}

/** Waits while the ledger is crowded or a twin is at work. */
async function attemptPatiently(
  { location, etag, ...one }: OneOfMany,
  file: ContainerFile,
  request: Request,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { deadline, telemetry } = request
  const documentId = documentIdOfFile(location, file.etag)
  // The facts of a request are not those of one of its files.
  const ownTelemetry = { ...telemetry, annotate() {} }
  const hasLookedForEarlier = one.hasLookedForEarlier && file.etag === etag
  const attempt = { ...request, idempotencyKey: documentId, hasLookedForEarlier, telemetry: ownTelemetry }
  const twinsEndMs = performance.now() + PATIENCE_FOR_TWIN_MS
  for (;;) {
    const target = { ...location, documentId, attemptId: newAttemptId() }
    try {
      return await attemptPromotion(target, file, attempt, deps)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.reason : undefined
      const mayBeTwins = reason === 'promotion_in_progress' || reason === 'storage_quota_exceeded'
      const document = mayBeTwins && (await findEarlierDocument(target, attempt, deps))
      if (document) return { document, isReplayed: true, usage: undefined }
      const isTwinsTime = reason === 'promotion_in_progress' && performance.now() < twinsEndMs
      const isPatient = reason === 'too_many_promotions' || isTwinsTime
      if (!isPatient || deadline.leftMs() < LEAST_WORK_MS) throw error
      await sleep(PAUSE_MS * (0.5 + Math.random() / 2))
    }
  }
}

function spent(): ServiceError {
  return new ServiceError('idempotency_key_spent', {
    detail:
      'The document that was made of this file was deleted. Promote the file by a request of its own to keep it again.',
  })
}
