import type { ContainerFile } from '../containers/container-files.ts'
import { resolveMimeType } from '../containers/mime-type.ts'
import { namingArchived, whyDifferent } from '../containers/require-container-file.ts'
import { SNIFFED_BYTES, typeOfContent } from '../containers/type-of-content.ts'
import { ServiceError } from '../errors.ts'
import { beginDocument } from '../ledger/begin-document.ts'
import { cleanLeftovers } from '../ledger/clean-ledger.ts'
import { chooseExpiry, expiresAtOf } from '../ledger/expiry.ts'
import type { Attempt } from '../ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../ledger/ports/ledger.ts'
import { LONGEST_COPY_MS, undo, undoWithoutHold } from '../ledger/undo.ts'
import { holdBytes, requireAdmission } from './hold-bytes.ts'
import { replay } from './idempotency.ts'
import { keepRestored } from './keep-restored.ts'
import { documentMatches } from './preconditions.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'
import { requireRoom } from './room.ts'

/** What an undo has to know of an attempt. */
interface Sent {
  versionId?: string | undefined
  hasHold?: true
  /** When all that it sent has arrived, ms since 1970, if something may still be on its way. */
  arrivesByMs?: number
}

/** Begins, copies, holds, records and captures. If a step fails, it undoes what was done before it throws. */
export async function attemptPromotion(
  target: PromotionTarget,
  file: ContainerFile,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, attemptId } = target
  const { deadline, telemetry } = request
  const ids = { workspaceId, documentId, attemptId }
  const attempt: Attempt = { ...ids, objectKey: deps.objectKeys.documentObject(ids) }
  const kept = await keepRestored(target, file, request, deps)
  if (kept) return kept

  telemetry.annotate({ document_id: documentId, attempt_id: attemptId, size_bytes: file.sizeBytes })
  const findingType = resolveMimeType(file, target.path, () => lookInside(file, request, deps))
  await requireRoom(request.mayHaveTwin ? target : undefined, file.sizeBytes, request, deps)
  requireAdmission(workspaceId, deps)
  const earlier = await telemetry.time('begin', () => begin(attempt, target, request, deps))
  if (earlier) return earlier
  let sent: Sent = {}
  let made: Made | undefined
  try {
    const mimeType = await findingType
    const what = { source: file, objectKey: attempt.objectKey, mimeType }
    const copied = await telemetry
      .time('copy', () => deps.objects.copy(what, deadline.signal))
      .catch((error) => {
        if (error instanceof ServiceError && error.isUnanswered) sent = { arrivesByMs: deps.now() + LONGEST_COPY_MS }
        throw namingArchived(error, target)
      })
    const { versionId, sha256 } = copied
    sent = { versionId }
    const draft = { ...draftOf(attempt, target, file, request), mimeType, sha256 }
    if (!documentMatches(draft, request.preconditions)) throw whyDifferent(file, target)

    const leaseEndsAtMs = deps.now() + deps.leaseMs
    sent = { versionId, arrivesByMs: leaseEndsAtMs }
    const ledger = await holdBytes({ ...draft, leaseEndsAtMs }, request, deps)
    sent = { versionId }
    if (ledger instanceof ServiceError) throw ledger
    sent = { versionId, hasHold: true }

    const createdAt = new Date(deps.now())
    const expiry = chooseExpiry(request.expiresInSeconds, ledger)
    const expiresAt = expiry && expiresAtOf(createdAt, expiry.seconds)
    const document = { ...draft, countedFrom: ledger.version, createdAt, expiresAt }
    made = { document, isReplayed: false, usage: ledger, expiry }
    const isRecorded = await telemetry.time('record', () => deps.documents.record(document, deadline.signal))
    if (!isRecorded) throw new ServiceError('request_timed_out')
  } catch (error) {
    const isRecorded = await undoOrLeave(attempt, sent, request, deps)
    // Otherwise the record's answer was lost, but it had arrived.
    if (!isRecorded || made === undefined) throw error
  }
  await endOrLeave(made, request, deps)
  return made
}

/** @returns the answer, if an earlier request has made the document */
async function begin(attempt: Attempt, target: PromotionTarget, request: AttemptRequest, deps: PromotionDependencies) {
  const { deadline, log } = request
  for (;;) {
    const earlier = await beginDocument(attempt, deps, deadline.signal).catch(async (error) => {
      const isRefusal =
        error instanceof ServiceError && (error.status < 500 || error.reason === 'promotion_in_progress')
      if (isRefusal) throw error
      // The pending item may be there. If it stays, or arrives later, the resolver undoes it.
      await deps.documents
        .fence(attempt, deadline.undoSignal())
        .catch((failure) => log.warn('attempt not undone, left to the resolver', { error: failure }))
      throw error
    })
    if (earlier === undefined) return undefined
    const kept = await replay(target, earlier, request, deps)
    // Otherwise it has expired meanwhile, and makes room.
    if (kept) return kept
  }
}

/** Never fails: a file of unknown type is promoted like any other. */
async function lookInside(file: ContainerFile, { deadline, log }: AttemptRequest, { objects }: PromotionDependencies) {
  try {
    return await typeOfContent(await objects.readStart(file, SNIFFED_BYTES, deadline.signal))
  } catch (error) {
    log.warn('the type of a file could not be detected', { error })
    return undefined
  }
}

/** What is known before the copy. */
function draftOf(attempt: Attempt, target: PromotionTarget, file: ContainerFile, { caller }: AttemptRequest) {
  const { containerId, path: filename } = target
  const { sizeBytes, etag: sourceEtag } = file
  const contentEncoding = file.contentEncoding || undefined
  const source = { containerId, filename, sizeBytes, sourceEtag, contentEncoding }
  return { ...attempt, ...source, state: 'ready' as const, createdBy: caller.keyId }
}

interface Made extends Promotion {
  usage: WorkspaceLedger
}

/** An undo that fails is logged and not tried again: its items lead the resolver to it. @returns whether it is recorded after all */
async function undoOrLeave(
  attempt: Attempt,
  { versionId, hasHold, arrivesByMs }: Sent,
  { deadline, log, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<boolean> {
  const signal = deadline.undoSignal()
  const written = { ...attempt, versionId }
  try {
    return await telemetry.time('undo', () =>
      hasHold || arrivesByMs !== undefined
        ? undo(written, arrivesByMs, deps, signal)
        : undoWithoutHold(written, deps, signal),
    )
  } catch (error) {
    const { documentId: document_id, attemptId: attempt_id } = attempt
    log.error('undo failed, the rest is left to the resolver', { document_id, attempt_id, error })
    return false
  }
}

/** The document exists and is counted: a hold that stays is captured by whoever sees it. */
async function endOrLeave(
  { document, usage: ledger }: Made,
  { deadline, log, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  const own = ledger.holds.find(({ attemptId }) => attemptId === document.attemptId)
  try {
    await telemetry.time('capture', async () => {
      if (own) await deps.ledger.capture(own, signal)
      await cleanLeftovers(ledger, deps, signal)
    })
  } catch (error) {
    log.warn('leftovers in the ledger not ended, left to others', { document_id: document.documentId, error })
  }
}
