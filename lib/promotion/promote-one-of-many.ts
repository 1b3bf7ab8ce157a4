import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import { requireContainerFile, requireReadable } from '../containers/require-container-file.ts'
import { ServiceError } from '../errors.ts'
import { type FilePath, newAttemptId } from '../ids.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { StorageUsage } from '../ledger/ports/quota-ledger.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfFile, findEarlierDocument } from './idempotency.ts'
import { requirePromotableSize } from './promote-container-file.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'

/** What a request comes to for one of its files. */
export interface FileOutcome {
  path: FilePath
  outcome: 'promoted' | 'kept' | 'refused'
  document?: WorkspaceDocument
  /** After its promotion. */
  usage?: StorageUsage | undefined
  /** Why it was refused. */
  error?: ServiceError
}

interface OneOfMany {
  target: Pick<PromotionTarget, 'workspaceId' | 'containerId' | 'path'>
  /** Of the list that it is from, or of the lookup. */
  etag?: string | undefined
  file?: ContainerFile
  /** Why the lookup has failed. */
  failure?: unknown
  /** The document that was made of it, as of just now. */
  earlier: WorkspaceDocument | DeletedDocument | undefined
  /** Of the whole request: it is done or refused, whatever the time, so that each request makes progress. */
  isFirst: boolean
  /** Resolves when it may be copied. */
  waitForTurn(sizeBytes: number): Promise<unknown>
}

/** A file that begins later than this before the deadline would hardly be done. */
const LEAST_WORK_MS = 5000
const PAUSE_MS = 500
/** A twin that lives needs less than this: what a dead one has left is refused until it may be replaced. */
const PATIENCE_FOR_TWIN_MS = 5000

type Request = Omit<AttemptRequest, 'idempotencyKey'>

/** @returns undefined when the time does not suffice. @throws nothing: what goes wrong is the file's own refusal */
export async function promoteOneOfMany(
  one: OneOfMany,
  request: Request,
  deps: PromotionDependencies,
): Promise<FileOutcome | undefined> {
  const { path } = one.target
  try {
    if (one.failure !== undefined) throw one.failure
    if (one.earlier && 'isDeleted' in one.earlier) throw new ServiceError('idempotency_key_spent')
    if (one.earlier) return { path, outcome: 'kept', document: one.earlier }
    if (!hasTime(one, request)) return undefined
    const { document, isReplayed, usage } = await promote(one, request, deps)
    return { path, outcome: isReplayed ? 'kept' : 'promoted', document, usage }
  } catch (error) {
    const isOutOfTime = request.deadline.signal.aborted || !hasTime(one, request)
    const mayPassLater = error instanceof ServiceError && PASSES.has(error.reason)
    return isOutOfTime && mayPassLater && !one.isFirst
      ? undefined
      : { path, outcome: 'refused', error: refusal(error, request) }
  }
}

/** With more time these would not have been refusals. */
const PASSES = new Set<string>(['promotion_timed_out', 'too_many_promotions'])

async function promote(one: OneOfMany, request: Request, deps: PromotionDependencies): Promise<Promotion> {
  const { signal } = request.deadline
  const file = one.file ?? (await requireContainerFile(one.target, deps, signal))
  requireReadable(file, one.target)
  requirePromotableSize(file, deps.maxFileBytes)
  await one.waitForTurn(file.sizeBytes)
  if (!hasTime(one, request)) throw new ServiceError('promotion_timed_out')

  const documentId = documentIdOfFile(one.target, file.etag)
  const attempt: AttemptRequest = {
    ...request,
    // All that attempts need to know of it: twins meet at the claim.
    idempotencyKey: documentId,
    hasLookedForEarlier: file.etag === one.etag,
    // The facts of a request are not those of one of its files.
    telemetry: { ...request.telemetry, annotate() {} },
  }
  const startedMs = performance.now()
  for (;;) {
    const target = { ...one.target, documentId, attemptId: newAttemptId() }
    try {
      return await attemptPromotion(target, file, attempt, deps)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.reason : undefined
      const mayBeTwins = reason === 'promotion_in_progress' || reason === 'storage_quota_exceeded'
      const document = mayBeTwins && (await findEarlierDocument(target, request.caller, deps.documents, signal))
      if (document) return { document, isReplayed: true, usage: undefined }
      const isPatient = reason === 'too_many_promotions' || isTwinsTime(reason, startedMs)
      if (!isPatient || request.deadline.workMs() < LEAST_WORK_MS) throw error
      await sleep(PAUSE_MS * (0.5 + Math.random() / 2))
    }
  }
}

function isTwinsTime(reason: string | undefined, startedMs: number): boolean {
  return reason === 'promotion_in_progress' && performance.now() - startedMs < PATIENCE_FOR_TWIN_MS
}

function hasTime({ isFirst }: OneOfMany, { deadline }: Request): boolean {
  return isFirst || deadline.workMs() >= LEAST_WORK_MS
}

function refusal(error: unknown, { log }: Request): ServiceError {
  const refused = error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })
  if (refused.status >= 500) log.error('a file of many was not promoted', { reason: refused.reason, error })
  if (refused.reason !== 'idempotency_key_spent') return refused
  return new ServiceError('idempotency_key_spent', {
    detail:
      'The document that was made of this file was deleted. Promote the file by a request of its own to keep it again.',
  })
}
