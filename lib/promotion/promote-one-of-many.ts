import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerFile } from '../containers/container-files.ts'
import { type FileLocation, findContainerFile } from '../containers/require-container-file.ts'
import { rowOf, ServiceError } from '../errors.ts'
import { type DocumentId, type FilePath, newAttemptId } from '../ids.ts'
import type { DocumentItem } from '../ledger/ports/documents.ts'
import { attemptPromotion } from './attempt-promotion.ts'
import { documentIdOfFile, replay } from './idempotency.ts'
import { requirePromotable } from './promote-container-file.ts'
import type { AttemptRequest, Promotion, PromotionDependencies } from './promotion.ts'

/** The outcome for one of a request's files: a document, why it was refused, or that the time did not suffice for it. */
export interface FileOutcome extends Partial<Promotion> {
  path: FilePath
  outcome: 'promoted' | 'kept' | 'refused' | 'left'
  error?: ServiceError
}

/** One of the files that a request means, and what is known of it. */
export interface FoundFile {
  location: FileLocation
  /** By the list or the lookup. */
  seen?: Pick<ContainerFile, 'etag' | 'sizeBytes'> | undefined
  file?: Promise<ContainerFile>
}

/** Documents made of the files, as of just now. undefined: there is none; missing: nobody has looked for it. */
export type EarlierDocuments = ReadonlyMap<DocumentId, DocumentItem | undefined>

/** A file that begins later than this before the deadline would hardly be done. */
const LEAST_WORK_MS = 5000
const PAUSE_MS = 500
/** A live twin is done within this time. After it, the file is refused until the dead twin may be replaced. */
const PATIENCE_FOR_TWIN_MS = 5000

type Request = Omit<AttemptRequest, 'mayHaveTwin'>

/** Never rejects. The request's first file is never left for lack of time, so that each request makes progress. */
export async function promoteOneOfMany(
  { location, seen, file: lookUp }: FoundFile,
  { earlier, isFirst }: { earlier: EarlierDocuments; isFirst: boolean },
  request: Request,
  deps: PromotionDependencies,
): Promise<FileOutcome> {
  const { path } = location
  const { signal, leftMs } = request.deadline
  const hasTime = () => isFirst || (!signal.aborted && leftMs() >= LEAST_WORK_MS)
  try {
    const documentId = seen && documentIdOfFile(location, seen.etag)
    const kept = documentId && (await replay(location, earlier.get(documentId), request, deps))
    if (kept) return { path, outcome: 'kept', ...kept }
    if (!hasTime()) return { path, outcome: 'left' }
    const file = await (lookUp ?? findContainerFile(location, deps, signal))
    requirePromotable(file, location, request, deps)
    const promotion = await attemptPatiently(location, file, earlier, request, deps)
    return { path, outcome: promotion.isReplayed ? 'kept' : 'promoted', ...promotion }
  } catch (error) {
    const refused = error instanceof ServiceError ? error : new ServiceError('internal_error', { cause: error })
    const { reason } = refused
    if (!hasTime() && rowOf(refused).needsTime) return { path, outcome: 'left' }
    if (refused.status >= 500) request.log.error('a file of many was not promoted', { reason, error })
    return { path, outcome: 'refused', error: refused }
  }
}

/** Waits while the ledger is crowded or a twin is at work. */
async function attemptPatiently(
  location: FileLocation,
  file: ContainerFile,
  earlier: EarlierDocuments,
  request: Request,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const documentId = documentIdOfFile(location, file.etag)
  const attempt = {
    ...request,
    mayHaveTwin: !earlier.has(documentId) || earlier.get(documentId) !== undefined,
    // The facts of a request are not those of one of its files.
    telemetry: { ...request.telemetry, annotate() {} },
  }
  const twinsEndMs = performance.now() + PATIENCE_FOR_TWIN_MS
  for (;;) {
    const target = { ...location, documentId, attemptId: newAttemptId() }
    try {
      return await attemptPromotion(target, file, attempt, deps)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.reason : undefined
      const isTwins = reason === 'promotion_in_progress'
      const mayBeTwins = isTwins || reason === 'storage_quota_exceeded'
      const item = mayBeTwins ? await deps.documents.find(target, request.deadline.signal) : undefined
      const twins = await replay(target, item, attempt, deps)
      if (twins) return twins
      const isPatient = reason === 'too_many_promotions' || (isTwins && performance.now() < twinsEndMs)
      if (!isPatient || request.deadline.leftMs() < LEAST_WORK_MS) throw error
      await sleep(PAUSE_MS * (0.5 + Math.random() / 2))
    }
  }
}
