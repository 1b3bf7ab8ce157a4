import { forEachAtOnce } from '../each-at-once.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import type { ObjectKeys } from '../object-keys.ts'
import { type Leftover, leftRelease, leftReservation, leftTaking } from './leftovers.ts'
import type { ReleaseDependencies } from './release-bytes.ts'
import type { OpenReservation } from './reservations.ts'
import type { WorkspaceLedger, WorkspaceLedgers } from './workspace-ledgers.ts'

export interface ResolverDependencies extends ReleaseDependencies {
  ledgers: WorkspaceLedgers
  objectKeys: ObjectKeys
  log: Log
}

export interface ResolverBounds {
  /** In one workspace. */
  maxResolutions: number
  /** One that hangs must not take the time of the others. */
  timeoutEachMs?: number
  /**
   * Until when the workspace is this run's alone, if there is something to resolve in it: when the run is certainly over, ms
   * since 1970. Left out: it is looked at whoever else does so, which does no harm.
   */
  claimUntilMs?: number
}

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
  /** Somebody else was faster: it is not due any more. */
  isClaimedElsewhere?: true
}

/** Of one workspace, whose ledger lets no more than 8 releases stand at a time. */
const RESOLUTIONS_AT_ONCE = 16
const SHORTEST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10 * 60 * 1000

/**
 * Finishes in one workspace what processes that died have left: everything whose lease is over. What fails is logged and
 * left to a later look. Safe to run twice at once, and beside an owner that wakes up late (docs/reliability.md).
 */
export async function resolveWorkspace(
  workspaceId: WorkspaceId,
  { maxResolutions, timeoutEachMs = Number.POSITIVE_INFINITY, claimUntilMs }: ResolverBounds,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<WorkspaceReport> {
  const report: WorkspaceReport = { settled: 0, released: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }
  const log = deps.log.with({ workspace_id: workspaceId })
  /** How long the lease had been over of the oldest that failed. */
  let oldestFailedMs = 0
  // By this moment all leases are judged: what ends later may still have been on its way when it was looked for.
  const startedAtMs = deps.now()
  const before = await deps.ledgers.read(workspaceId, signal)
  if (before === undefined) return report
  const dueAtMs = dueTimeOf(before)
  if (claimUntilMs !== undefined && dueAtMs === undefined) return { ...report, isClaimedElsewhere: true }
  const reservations = await readReservations()

  const isOver = ({ leaseExpiresAtMs }: { leaseExpiresAtMs: number }) => leaseExpiresAtMs <= startedAtMs
  if (![...before.takings, ...before.releases, ...reservations].some(isOver)) {
    if (dueAtMs !== undefined) await reschedule(dueAtMs, before)
    return report
  }
  // Markers as they are after the reservations were read: one that is there says that its other side was not written yet
  // when that was looked for; one that is gone, that it is done. The version as it was before: what came since is not forgotten.
  const ledger = await readAgain(before)
  if (ledger === undefined) return { ...report, isClaimedElsewhere: true }
  // What this run begins, the next one may end: by then it is over, and whoever finds a release may complete it.
  const ownDeps = claimUntilMs === undefined ? deps : { ...deps, leaseMs: Math.max(0, claimUntilMs - deps.now()) }
  // What holds a marker first, each kind at once: with its marker gone, a reservation can be taken back like any other.
  const phases = [
    ledger.takings.filter(isOver).map((taking) => leftTaking(taking, reservations, ownDeps)),
    ledger.releases.filter(isOver).map((release) => leftRelease(release, reservations, ownDeps)),
    reservations.filter(isOver).flatMap((reservation) => leftReservation(reservation, ledger, ownDeps) ?? []),
  ]
  for (const phase of phases) {
    const room = Math.max(0, maxResolutions - (report.settled + report.released + report.failed))
    if (phase.length > room) report.isComplete = false
    await forEachAtOnce(phase.slice(0, room), RESOLUTIONS_AT_ONCE, resolveOne)
  }
  const seenMs = claimUntilMs ?? dueTimeOf(ledger)
  if (seenMs !== undefined) await reschedule(seenMs, { ...ledger, version: before.version })
  return report

  function dueTimeOf({ checkDueAtMs }: WorkspaceLedger): number | undefined {
    return checkDueAtMs !== undefined && checkDueAtMs <= deps.now() ? checkDueAtMs : undefined
  }

  async function readReservations(): Promise<OpenReservation[]> {
    const all: OpenReservation[] = []
    const onUnreadable = (error: Error) => {
      report.unreadable++
      log.error('reservation unreadable, passed by', { error })
    }
    for await (const reservation of deps.reservations.list(workspaceId, signal, onUnreadable)) all.push(reservation)
    return all
  }

  /** @returns undefined when somebody else is at work on it, or done */
  async function readAgain(first: WorkspaceLedger): Promise<WorkspaceLedger | undefined> {
    if (claimUntilMs === undefined || dueAtMs === undefined) {
      return (await deps.ledgers.read(workspaceId, signal)) ?? first
    }
    return deps.ledgers.claim(workspaceId, { seenMs: dueAtMs, untilMs: claimUntilMs }, signal)
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

  /** Tells when to look again: not at all when there is nothing, and nothing came since the ledger was read first. */
  async function reschedule(seenMs: number, { takings, releases, version }: WorkspaceLedger): Promise<void> {
    const all = [...takings, ...releases, ...reservations]
    const isQuiet = all.length === 0 && report.unreadable === 0
    const next = isQuiet ? { nextMs: undefined, version } : { nextMs: nextLookMs(all) }
    await deps.ledgers.reschedule(workspaceId, { seenMs, ...next }, signal)
  }

  /**
   * At the end of the next lease. What fails is left alone for longer each time, by a quarter of how long its lease has been
   * over, so that it is in nobody's way: nothing of it need be kept.
   */
  function nextLookMs(all: { leaseExpiresAtMs: number }[]): number {
    const nowMs = deps.now()
    // Those that were judged to run: one that has ended meanwhile is due at once.
    const running = all.map(({ leaseExpiresAtMs }) => leaseExpiresAtMs).filter((endMs) => endMs > startedAtMs)
    if (report.failed > 0) {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, oldestFailedMs / 4))
      return Math.min(...running, Math.round(nowMs + pauseMs))
    }
    if (!report.isComplete) return nowMs + SHORTEST_PAUSE_MS
    return Math.min(...running, nowMs + deps.leaseMs)
  }
}
