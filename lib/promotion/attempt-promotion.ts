import type { ContainerFile } from '../containers/container-files.ts'
import { resolveMimeType } from '../containers/mime-type.ts'
import { namingArchived, whyDifferent } from '../containers/require-container-file.ts'
import { SNIFFED_BYTES, typeOfContent } from '../containers/type-of-content.ts'
import { ServiceError } from '../errors.ts'
import type { FilePath } from '../ids.ts'
import { beginDocument } from '../ledger/begin-document.ts'
import { cleanLeftovers } from '../ledger/clean-markers.ts'
import { chooseExpiry, expiresAtOf } from '../ledger/expiry.ts'
import type { Attempt, WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../ledger/ports/ledger.ts'
import { LONGEST_COPY_MS, undo, undoUntaken } from '../ledger/undo.ts'
import { keepDocument, requireSameFile } from './keep-document.ts'
import type { Copied } from './ports/object-store.ts'
import { isMadeOfMeant } from './preconditions.ts'
import type { AttemptRequest, Promotion, PromotionDependencies, PromotionTarget } from './promotion.ts'
import { requireRoom } from './room.ts'
import { requireAdmission, takeBytes } from './take-bytes.ts'

/** The steps that an attempt has done, for its undo. */
interface Progress {
  /** The version of its object. */
  versionId?: string | undefined
  /** It may have bytes. */
  mayHaveTaken?: true
  /** When all that it sent has arrived, ms since 1970, if something may still be on its way. */
  arrivesByMs?: number
}

/**
 * Begins, copies, takes the bytes, records, and removes the marker of the bytes. If a step fails, undoes what was done
 * before it throws.
 * @returns `isReplayed` when an earlier request has made the document
 */
export async function attemptPromotion(
  target: PromotionTarget,
  file: ContainerFile,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion> {
  const { workspaceId, documentId, attemptId } = target
  const ids = { workspaceId, documentId, attemptId }
  const attempt: Attempt = { ...ids, objectKey: deps.objectKeys.documentObject(ids) }
  request.telemetry.annotate({ document_id: documentId, attempt_id: attemptId, size_bytes: file.sizeBytes })

  const findingType = typeOf(file, target.path, request, deps)
  await requireRoom(request.mayHaveTwin ? target : undefined, file.sizeBytes, request, deps)
  requireAdmission(workspaceId, deps)
  const earlier = await request.telemetry.time('begin', () => begin(attempt, target, request, deps))
  if (earlier) return earlier
  const progress: Progress = {}
  let made: Made | undefined
  try {
    const mimeType = await findingType
    const what = { source: file, objectKey: attempt.objectKey, mimeType }
    const { sha256 } = await copy(what, target, progress, request, deps)
    made = await take({ attempt, target, file, mimeType, sha256 }, progress, request, deps)
    const { document } = made
    const isRecorded = await request.telemetry.time('record', () =>
      deps.documents.record(document, request.deadline.signal),
    )
    if (!isRecorded) throw new ServiceError('request_timed_out')
  } catch (error) {
    const isRecorded = (await undoOrLeave(attempt, progress, request, deps)) === 'recorded'
    if (!isRecorded || made === undefined) throw error
  }
  await endOrLeave(made, request, deps)
  const { document, expiry, ledger } = made
  return { document, isReplayed: false, usage: ledger, expiry }
}

/** @returns the answer, if an earlier request has made the document */
async function begin(
  attempt: Attempt,
  target: PromotionTarget,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Promotion | undefined> {
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
    const kept = await keepDocument(requireSameFile(earlier, target, request), request, deps)
    // Otherwise it has expired meanwhile, and makes room.
    if (kept) return kept
  }
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

interface Made extends Pick<Promotion, 'document' | 'expiry'> {
  ledger: WorkspaceLedger
}

async function copy(
  what: { source: ContainerFile; objectKey: string; mimeType: string },
  location: PromotionTarget,
  progress: Progress,
  { deadline, telemetry }: AttemptRequest,
  { objects, now }: PromotionDependencies,
): Promise<Copied> {
  try {
    const copied = await telemetry.time('copy', () => objects.copy(what, deadline.signal))
    progress.versionId = copied.versionId
    return copied
  } catch (error) {
    if (error instanceof ServiceError && error.isUnanswered) progress.arrivesByMs = now() + LONGEST_COPY_MS
    throw namingArchived(error, location)
  }
}

async function take(
  what: {
    attempt: Attempt
    target: PromotionTarget
    file: ContainerFile
    mimeType: string
    sha256: string | undefined
  },
  progress: Progress,
  request: AttemptRequest,
  deps: PromotionDependencies,
): Promise<Made> {
  const { attempt, target, file, mimeType, sha256 } = what
  const { sizeBytes, contentEncoding, etag: sourceEtag } = file
  const draft = { ...attempt, sizeBytes, sourceEtag, sha256 }
  if (!isMadeOfMeant(draft, request.preconditions)) throw whyDifferent(file, target)
  const leaseEndsAtMs = deps.now() + deps.leaseMs
  const taken = await takeBytes({ ...attempt, sizeBytes, leaseEndsAtMs }, request, deps).catch((error) => {
    Object.assign(progress, { mayHaveTaken: true, arrivesByMs: leaseEndsAtMs } satisfies Progress)
    throw error
  })
  if (taken instanceof ServiceError) throw taken
  progress.mayHaveTaken = true
  const createdAt = new Date(deps.now())
  const expiry = chooseExpiry(request.expiresInSeconds, taken)
  const document: WorkspaceDocument = {
    ...draft,
    state: 'ready',
    countedFrom: taken.version,
    createdAt,
    filename: target.path,
    mimeType,
    expiresAt: expiry && expiresAtOf(createdAt, expiry.seconds),
    containerId: target.containerId,
    contentEncoding: contentEncoding || undefined,
    createdBy: request.caller.keyId,
  }
  return { document, expiry, ledger: taken }
}

/** An undo that fails is logged and not tried again: its items lead the resolver to it. */
async function undoOrLeave(
  attempt: Attempt,
  { versionId, mayHaveTaken, arrivesByMs }: Progress,
  { deadline, log, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<'undone' | 'recorded' | 'left'> {
  const signal = deadline.undoSignal()
  try {
    return await telemetry.time('undo', async () => {
      if (mayHaveTaken || arrivesByMs !== undefined) return undo({ ...attempt, versionId }, arrivesByMs, deps, signal)
      await undoUntaken({ ...attempt, versionId }, deps, signal)
      return 'undone'
    })
  } catch (error) {
    const { documentId: document_id, attemptId: attempt_id } = attempt
    log.error('undo failed, the rest is left to the resolver', { document_id, attempt_id, error })
    return 'left'
  }
}

/** The document exists and is counted: a marker that stays is removed by whoever sees it. */
async function endOrLeave(
  { document, ledger }: Made,
  { deadline, log, telemetry }: AttemptRequest,
  deps: PromotionDependencies,
): Promise<void> {
  const signal = deadline.undoSignal()
  const own = ledger.takings.find(({ attemptId }) => attemptId === document.attemptId)
  try {
    await telemetry.time('unmark', async () => {
      if (own) await deps.ledger.unmark(own, signal)
      await cleanLeftovers(ledger, deps, signal)
    })
  } catch (error) {
    log.warn('markers not removed, left to others', { document_id: document.documentId, error })
  }
}
