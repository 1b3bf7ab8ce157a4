import { type AttemptId, documentIdOfAttempt, type WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import type { ObjectKeys } from '../object-keys.ts'
import { settle, undo, watchForCopy } from './end-attempt.ts'
import type { OpenReservation, Release, Taking, WorkspaceLedger, WorkspaceLedgers } from './ports.ts'
import { completeRelease, type ReleaseDependencies } from './release-bytes.ts'

export interface ResolverDependencies extends ReleaseDependencies {
  ledgers: WorkspaceLedgers
  objectKeys: ObjectKeys
  log: Log
}

export interface ResolverBounds {
  maxResolutions: number
  /** One that hangs must not take the time of the others. */
  timeoutEachMs?: number
}

export type Resolution = 'settled' | 'released'

export interface WorkspaceReport {
  settled: number
  released: number
  failed: number
  /** Items that are not as this service writes them. */
  unreadable: number
  /** How long the oldest lease had been over; 0: none was. */
  oldestMs: number
  /** Whether all that is overdue was looked at. */
  isComplete: boolean
}

/** Something that a process began and did not end, as the ledger and the reservations tell. */
interface Leftover {
  what: 'taking' | 'release' | 'reservation'
  subject: { attemptId: string; leaseExpiresAtMs: number }
  resolve(signal: AbortSignal): Promise<Resolution>
}

/**
 * Finishes in one workspace what processes that died have left: everything whose lease is over. What fails is logged and
 * left to the next look. Safe to run twice at once, and beside an owner that wakes up late (docs/reliability.md).
 *
 * @param check when the workspace was due, if that is why it is looked at: then it is told when it is due again
 */
export async function resolveWorkspace(
  workspaceId: WorkspaceId,
  { maxResolutions, timeoutEachMs = Number.POSITIVE_INFINITY }: ResolverBounds,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<WorkspaceReport> {
  const report: WorkspaceReport = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }
  const log = deps.log.with({ workspace_id: workspaceId })
  // By this moment all leases are judged: what ends later may still have been on its way when it was looked for.
  const startedAtMs = deps.now()
  const before = await deps.ledgers.read(workspaceId, signal)
  if (before === undefined) return report
  const reservations = await readReservations()
  // Markers as they are after the reservations were read: one that is there says that its other side was not written yet
  // when that was looked for; one that is gone, that it is done. The version as it was before: what came since is not forgotten.
  const isQuiet = reservations.length + before.takings.length + before.releases.length === 0
  const ledger = isQuiet ? before : ((await deps.ledgers.read(workspaceId, signal)) ?? before)

  const isOver = ({ leaseExpiresAtMs }: { leaseExpiresAtMs: number }) => leaseExpiresAtMs <= startedAtMs
  // What holds a marker first, each kind at once: with its marker gone, a reservation can be taken back like any other.
  const phases = [
    ledger.takings.filter(isOver).map((taking) => leftTaking(taking, reservations, deps)),
    ledger.releases.filter(isOver).map((release) => leftRelease(release, reservations, deps)),
    reservations.filter(isOver).flatMap((reservation) => leftReservation(reservation, ledger, deps) ?? []),
  ]
  for (const phase of phases) {
    const room = maxResolutions - (report.settled + report.released + report.failed)
    if (phase.length > room) report.isComplete = false
    await Promise.all(phase.slice(0, Math.max(0, room)).map(resolveOne))
  }
  await reschedule({ ...ledger, version: before.version }, reservations, report, deps, signal)
  return report

  async function readReservations(): Promise<OpenReservation[]> {
    const all: OpenReservation[] = []
    const onUnreadable = (error: Error) => {
      report.unreadable++
      log.error('reservation unreadable, passed by', { error })
    }
    for await (const reservation of deps.reservations.list(workspaceId, signal, onUnreadable)) all.push(reservation)
    return all
  }

  async function resolveOne({ what, subject, resolve }: Leftover): Promise<void> {
    const fields = { what, attempt_id: subject.attemptId }
    report.oldestMs = Math.max(report.oldestMs, deps.now() - subject.leaseExpiresAtMs)
    try {
      const bounded = Number.isFinite(timeoutEachMs) ? [signal, AbortSignal.timeout(timeoutEachMs)] : [signal]
      const resolution = await resolve(AbortSignal.any(bounded))
      report[resolution]++
      log.info('leftover resolved', { ...fields, resolution })
    } catch (error) {
      report.failed++
      log.error('leftover not resolved, left to the next look', { ...fields, error })
    }
  }
}

/** A process died between taking the bytes and telling that its reservation is open. */
function leftTaking(taking: Taking, reservations: OpenReservation[], deps: ResolverDependencies): Leftover {
  const { workspaceId, attemptId } = taking
  return {
    what: 'taking',
    subject: taking,
    async resolve(signal) {
      if (reservationOf(taking, reservations)) {
        await deps.ledger.unmark(taking, signal)
        return 'settled'
      }
      // Only a copy that did not wait for its reservation can be there, or come yet, and its document id tells where.
      const documentId = documentIdOfAttempt(attemptId)
      const objectKey = deps.objectKeys.documentObject({ workspaceId, documentId, attemptId })
      await watchForCopy({ ...taking, documentId, objectKey }, deps, signal)
      await deps.objects.discard(objectKey, signal)
      await deps.ledger.release(taking, signal)
      return 'released'
    },
  }
}

function reservationOf({ attemptId }: { attemptId: AttemptId }, reservations: OpenReservation[]) {
  return reservations.find((open) => open.attemptId === attemptId && open.purpose === 'promotion')
}

/** A process died while it gave bytes back. */
function leftRelease(release: Release, reservations: OpenReservation[], deps: ResolverDependencies): Leftover {
  return {
    what: 'release',
    subject: release,
    async resolve(signal) {
      const undone = reservations.find(
        ({ attemptId, purpose }) => attemptId === release.attemptId && purpose === 'promotion',
      )
      if (release.purpose === 'undo' && undone) await deps.objects.discard(undone.objectKey, signal)
      return (await completeRelease(release, deps, signal)) === undefined ? 'settled' : 'released'
    },
  }
}

/** @returns undefined for a reservation that a release has, which stands in the ledger and is resolved there */
function leftReservation(
  reservation: OpenReservation,
  ledger: WorkspaceLedger,
  deps: ResolverDependencies,
): Leftover | undefined {
  const { purpose, closedBy, objectKey } = reservation
  if (closedBy && ledger.releases.some(({ releaseId }) => releaseId === closedBy)) return undefined
  return {
    what: 'reservation',
    subject: reservation,
    async resolve(signal) {
      if (purpose === 'late_copy' || purpose === 'fence') {
        await deps.objects.discard(objectKey, signal)
        await deps.reservations[purpose === 'fence' ? 'remove' : 'removeWatch'](reservation, signal)
        return 'settled'
      }
      if (closedBy === undefined) {
        if ((await undo(reservation, { mayCopyArrive: true }, deps, signal)) === 'undone') return 'released'
        await settle(reservation, deps, signal)
        return 'settled'
      }
      // The marker comes before the closing and goes with the bytes: it is gone, so they were given back.
      await deps.reservations.remove(reservation, signal)
      return 'settled'
    },
  }
}

/** Tells when to look again: at the end of the next lease; not at all when there is nothing, and nothing came meanwhile. */
async function reschedule(
  { workspaceId, checkDueAtMs: seenMs, takings, releases, version }: WorkspaceLedger,
  reservations: OpenReservation[],
  report: WorkspaceReport,
  { ledgers, now, leaseMs }: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  if (seenMs === undefined || seenMs > now()) return
  const all = [...takings, ...releases, ...reservations]
  if (all.length === 0 && report.unreadable === 0) {
    await ledgers.reschedule(workspaceId, { seenMs, nextMs: undefined, version }, signal)
    return
  }
  const running = all.map(({ leaseExpiresAtMs }) => leaseExpiresAtMs).filter((endMs) => endMs > now())
  const nextMs = report.failed > 0 || !report.isComplete ? now() + 1000 : Math.min(...running, now() + leaseMs)
  await ledgers.reschedule(workspaceId, { seenMs, nextMs }, signal)
}
