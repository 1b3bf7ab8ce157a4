import { forEachAtOnce } from '../each-at-once.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import type { ObjectKeys } from '../object-keys.ts'
import { type Leftover, releaseLeftover, reservationLeftover, takingLeftover } from './leftovers.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import type { OpenReservation } from './reservations.ts'
import type { WorkspaceLedger, WorkspaceLedgers } from './workspace-ledgers.ts'

export interface ResolverDependencies extends ReleaseDependencies {
  ledgers: WorkspaceLedgers
  objectKeys: ObjectKeys
  log: Log
}

export interface ResolverBounds {
  maxResolutions: number
  /** So that one that hangs does not take the time of the others. */
  timeoutEachMs?: number
  /** Claims the workspace until then (ms since 1970), when this run is certainly over. */
  claimUntilMs: number
  /** Leaves alone what ended more recently than that: this process's clock may be wrong. */
  graceMs?: number
}

export interface WorkspaceReport {
  settled: number
  released: number
  failed: number
  /** Items in a form that this service does not write. */
  unreadable: number
  /** How long ago the oldest lease ended; 0: none has. */
  oldestMs: number
  /** Whether everything overdue was looked at. */
  isComplete: boolean
  /** Somebody else was faster: it is no longer due. */
  isClaimedElsewhere?: true
}

/** In one workspace. */
const RESOLUTIONS_AT_ONCE = 16
const SHORTEST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10 * 60 * 1000

/**
 * Finishes everything in one workspace whose lease is over, if the workspace is due. A failure is logged and left to a
 * later look. Safe to run twice at once, and beside an owner that wakes up late (docs/reliability.md).
 */
export async function resolveWorkspace(
  workspaceId: WorkspaceId,
  { maxResolutions, timeoutEachMs = Number.POSITIVE_INFINITY, claimUntilMs, graceMs = 0 }: ResolverBounds,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<WorkspaceReport> {
  const report: WorkspaceReport = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }
  const log = deps.log.with({ workspace_id: workspaceId })
  /** How long ago the oldest lease ended among those that failed. */
  let oldestFailedMs = 0
  // All leases are judged as of now: a write whose lease ends later may still have been in flight when we looked for
  // it.
  const startedAtMs = deps.now() - graceMs
  const before = await deps.ledgers.read(workspaceId, signal)
  if (before === undefined) return report
  const dueAtMs = before.checkDueAtMs
  if (dueAtMs === undefined || dueAtMs > deps.now()) return { ...report, isClaimedElsewhere: true }
  const reservations = await readReservations()

  const isOver = ({ leaseExpiresAtMs }: { leaseExpiresAtMs: number }) => leaseExpiresAtMs <= startedAtMs
  if (![...before.takings, ...before.releases, ...reservations].some(isOver)) {
    await reschedule(dueAtMs, before)
    return report
  }
  // Markers are read after the reservations: one that is still there may have no counterpart yet; for one that is gone,
  // the counterpart was written. The version is the earlier one, so that no later change is missed.
  const ledger = await deps.ledgers.claim(workspaceId, { seenMs: dueAtMs, untilMs: claimUntilMs }, signal)
  if (ledger === undefined) return { ...report, isClaimedElsewhere: true }
  // Leases begun here end with the claim, so that the next run may finish the work.
  const ownDeps = { ...deps, leaseMs: Math.max(0, claimUntilMs - deps.now()) }
  // What is given back by a release in the ledger is left to that release, and a claim to its taking.
  const isPartOfMarker = ({ attemptId, purpose }: OpenReservation) =>
    (purpose === 'promotion' && ledger.releases.some((release) => release.attemptId === attemptId)) ||
    (purpose === 'claim' && ledger.takings.some((taking) => taking.attemptId === attemptId))
  // First what has a marker, one kind at a time: once its marker is gone, a reservation can be taken back like any other.
  const phases = [
    ledger.takings.filter(isOver).map((taking) => takingLeftover(taking, ownDeps)),
    ledger.releases.filter(isOver).map((release) => releaseLeftover(release, ownDeps)),
    reservations
      .filter((reservation) => isOver(reservation) && !isPartOfMarker(reservation))
      .map((reservation) => reservationLeftover(reservation, ownDeps)),
  ]
  for (const phase of phases) {
    const room = Math.max(0, maxResolutions - (report.settled + report.released + report.failed))
    if (phase.length > room) report.isComplete = false
    await forEachAtOnce(phase.slice(0, room), RESOLUTIONS_AT_ONCE, resolveOne)
  }
  await reschedule(claimUntilMs, { ...ledger, version: before.version })
  return report

  async function readReservations(): Promise<OpenReservation[]> {
    const all: OpenReservation[] = []
    const onUnreadable = (error: Error) => {
      report.unreadable++
      log.error('unreadable reservation skipped', { error })
    }
    for await (const reservation of deps.reservations.list(workspaceId, signal, onUnreadable)) all.push(reservation)
    return all
  }

  async function resolveOne({ what, subject, resolve }: Leftover): Promise<void> {
    const fields = { what, attempt_id: subject.attemptId }
    const overdueMs = deps.now() - subject.leaseExpiresAtMs
    report.oldestMs = Math.max(report.oldestMs, overdueMs)
    try {
      const bounded = Number.isFinite(timeoutEachMs) ? [signal, AbortSignal.timeout(timeoutEachMs)] : [signal]
      const resolution = await resolve(AbortSignal.any(bounded))
      report[resolution]++
      log.info('leftover resolved', { ...fields, resolution })
    } catch (error) {
      report.failed++
      oldestFailedMs = Math.max(oldestFailedMs, overdueMs)
      log.error('leftover not resolved, left to a later look', { ...fields, error })
    }
  }

  /** Sets when to look again: never, if nothing is left and nothing has changed since the ledger was first read. */
  async function reschedule(seenMs: number, { takings, releases, version }: WorkspaceLedger): Promise<void> {
    const all = [...takings, ...releases, ...reservations]
    const isQuiet = all.length === 0 && report.unreadable === 0
    const next = isQuiet ? { nextMs: undefined, version } : { nextMs: nextLookMs(all) }
    await deps.ledgers.reschedule(workspaceId, { seenMs, ...next }, signal)
  }

  /**
   * The end of the next lease. Failures are put off for longer each time, by a quarter of the time since their lease
   * ended, so that they hold up nobody; no state need be kept for that.
   */
  function nextLookMs(all: { leaseExpiresAtMs: number }[]): number {
    const nowMs = deps.now()
    // Those judged as running above: one that has ended since is due at once.
    const running = all.map(({ leaseExpiresAtMs }) => leaseExpiresAtMs).filter((endMs) => endMs > startedAtMs)
    if (report.failed > 0) {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, oldestFailedMs / 4))
      return Math.min(...running, Math.round(nowMs + pauseMs))
    }
    if (!report.isComplete) return nowMs + SHORTEST_PAUSE_MS
    return Math.min(...running, nowMs + deps.leaseMs)
  }
}
