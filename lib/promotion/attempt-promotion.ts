import type { ContainerFile } from '../containers/container-files.ts'
import { resolveMimeType } from '../containers/mime-type.ts'
import { namingArchived, whyDifferent } from '../containers/require-container-file.ts'
import { SNIFFED_BYTES, typeOfContent } from '../containers/type-of-content.ts'
import { ServiceError } from '../errors.ts'
import type { FilePath } from '../ids.ts'
import { settle } from '../ledger/end-attempt.ts'
import { chooseExpiry, expiresAtOf } from '../ledger/expiry.ts'
import type { CountedBytes, WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { TakenBytes } from '../ledger/ports/quota-ledger.ts'
import type { Attempt } from '../ledger/ports/reservations.ts'
import { claimDocument } from './claim-document.ts'
import { replayOrMakeRoom } from './keep-document.ts'
import { isMadeOfMeant } from './preconditions.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget, Traces } from './promotion.ts'
import { takeBytes } from './take-bytes.ts'
import { undoOrLeave } from './undo-promotion.ts'

const NOTHING: Traces = { reservation: 'none', hasTaking: false, object: 'none' }
const CLAIMED: Traces = { ...NOTHING, reservation: 'claim' }

/**
 * Claims the document if there is an Idempotency-Key, takes the bytes, reserves, copies, records, settles. If a step
 * fails, undoes everything before it throws.
 * @returns `isReplayed` when an earlier request has made the document
 */
export async function attemptPromotion(
  target: PromotionTarget,
  file: ContainerFile,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, attemptId, containerId, path } = target
  const ids = { workspaceId, documentId, attemptId }
  const { sizeBytes } = file
  const objectKey = deps.objectKeys.documentObject(ids)
  const attempt: Attempt = { ...ids, sizeBytes, objectKey, leaseExpiresAtMs: deps.now() + deps.leaseMs }
  request.telemetry.annotate({ document_id: documentId, attempt_id: attemptId, size_bytes: sizeBytes })

  const findingType = typeOf(file, path, request, deps)
  const hasIdempotencyKey = request.idempotencyKey !== undefined
  const { earlier, replaced } = hasIdempotencyKey ? await claim(target, attempt, request, deps) : {}
  if (earlier) return earlier
  const claimed = hasIdempotencyKey ? CLAIMED : NOTHING
  const { usage, retention, countedFrom } = await take(attempt, claimed, request, deps)
  const createdAt = new Date(deps.now())
  const expiry = chooseExpiry(request.expiresInSeconds, retention)
  const counted = { ...attempt, countedFrom }
  const draft: WorkspaceDocument = {
    ...ids,
    sizeBytes,
    objectKey,
    countedFrom,
    filename: path,
    mimeType: await findingType,
    createdAt,
    expiresAt: expiry && expiresAtOf(createdAt, expiry.seconds),
    containerId,
    contentEncoding: file.contentEncoding || undefined,
    sourceEtag: file.etag,
    createdBy: request.caller.keyId,
  }

  const written = await reserveAndCopy({ file, document: draft, attempt: counted, claimed }, request, deps)
  const document = { ...draft, sha256: written.sha256 }
  try {
    if (written.failure !== undefined) throw written.failure
    if (!isMadeOfMeant(document, request.preconditions)) throw whyDifferent(file, target)
    await record(document, replaced, request, deps)
  } catch (error) {
    // The steps of the undo would race it.
    await written.unmarking
    if ((await undoOrLeave(counted, written.traces, request, deps)) !== 'recorded') throw error
  }

  await settleOrLeave(counted, written.unmarking, request, deps)
  return { document, isReplayed: false, usage, expiry }
}

/**
 * Twins meet here, before they take bytes, so that none takes up room that other promotions need.
 * @returns the answer, if an earlier request has made the document; else the expired one whose place the new one takes
 */
async function claim(
  target: PromotionTarget,
  attempt: Attempt,
  request: AttemptRequest,
  deps: PromotionDependencies,
): ReturnType<typeof replayOrMakeRoom> {
  const { signal } = request.deadline
  const undo = () => undoOrLeave(attempt, CLAIMED, request, deps)
  const refusal = await claimDocument(attempt, deps, signal).catch(rethrowAfter(undo))
  if (refusal) throw refusal
  // A document that is made meanwhile refuses the record of another.
  if (request.hasLookedForEarlier) return {}
  const found = await replayOrMakeRoom(target, request, deps).catch(rethrowAfter(undo))
  if (found.earlier) await undo()
  return found
}

async function take(
  attempt: Attempt,
  claimed: Traces,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<TakenBytes> {
  const undo = (traces: Traces) => () => undoOrLeave(attempt, traces, request, deps)
  const taken = await takeBytes(attempt, request, deps).catch(rethrowAfter(undo({ ...claimed, hasTaking: true })))
  return taken instanceof ServiceError ? rethrowAfter(undo(claimed))(taken) : taken
}

/** Throws the error, once the work is done. */
const rethrowAfter = (work: () => Promise<unknown>) => async (error: unknown) => {
  await work()
  throw error
}

/** Never fails: a file of unknown type is promoted like any other. */
async function typeOf(
  file: ContainerFile,
  path: FilePath,
  { deadline, log }: AttemptRequest,
  { objects }: PromotionDependencies,
): Promise<string> {
  try {
    return await resolveMimeType(file, path, async () =>
      typeOfContent(await objects.readStart(file, SNIFFED_BYTES, deadline.signal)),
    )
  } catch (error) {
    log.warn('the type of a file could not be detected', { error })
    return resolveMimeType(file, path)
  }
}

/**
 * The bytes are taken, so the copy need not wait for the reservation. If one of the two fails, the other runs to its
 * end: a call that was answered is easier to undo.
 * @returns what the copy told; why one of the two failed; and `unmarking`, which never rejects: whether the reservation
 *   alone holds the bytes
 */
async function reserveAndCopy(
  what: { file: ContainerFile; document: WorkspaceDocument; attempt: Attempt; claimed: Traces },
  { deadline: { signal }, telemetry }: AttemptRequest,
  { objects, quota, reservations }: PromotionDependencies,
): Promise<{ traces: Traces; sha256: string | undefined; failure: unknown; unmarking: Promise<boolean> }> {
  const { file, document, attempt, claimed } = what
  const reserving = reservations.reserve(attempt, claimed.reservation === 'claim', signal)
  const unmarking = reserving
    .then((outcome) => outcome === 'reserved' && quota.unmark(attempt, signal).then(() => true))
    .catch(() => false)
  const copy = { source: file, objectKey: document.objectKey, mimeType: document.mimeType }
  const [reserved, copied] = await Promise.allSettled([
    reserving,
    telemetry.time('copy', () => objects.copy(copy, signal)),
  ])

  const outcome = reserved.status === 'fulfilled' ? reserved.value : 'unknown'
  const location = { containerId: document.containerId, path: document.filename }
  const copyFailure = copied.status === 'rejected' ? namingArchived(copied.reason, location) : undefined
  const mayBeLate = copyFailure instanceof ServiceError && copyFailure.isUnanswered
  return {
    traces: {
      reservation: outcome === 'reserved' || outcome === 'unknown' ? outcome : claimed.reservation,
      hasTaking: true,
      object: mayBeLate ? 'late_copy' : 'may_exist',
    },
    sha256: copied.status === 'fulfilled' ? copied.value.sha256 : undefined,
    failure: copyFailure ?? (reserved.status === 'rejected' ? reserved.reason : refusalOf(reserved.value)),
    unmarking,
  }
}

function refusalOf(outcome: 'reserved' | 'fenced' | 'throttled'): ServiceError | undefined {
  if (outcome === 'reserved') return undefined
  return new ServiceError(outcome === 'fenced' ? 'request_timed_out' : 'service_unavailable')
}

async function record(
  document: WorkspaceDocument,
  replaced: CountedBytes | undefined,
  { deadline, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const outcome = await telemetry.time('record', () => deps.documents.record(document, deadline.signal, replaced))
  if (outcome !== 'recorded') {
    throw new ServiceError(outcome === 'fenced' ? 'request_timed_out' : 'promotion_in_progress')
  }
}

/** The document exists and is counted: a reservation that could not be settled is left to the resolver. */
async function settleOrLeave(
  attempt: Attempt,
  unmarking: Promise<boolean>,
  { deadline, log, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  try {
    await telemetry.time('settle', async () => {
      if (await unmarking) await deps.reservations.remove(attempt, signal)
      else await settle(attempt, deps, signal)
    })
  } catch (error) {
    log.warn('reservation not settled, left to the resolver', { document_id: attempt.documentId, error })
  }
}
