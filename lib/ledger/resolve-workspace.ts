import pMap from 'p-map'
import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import type { ResolverDependencies } from './dependencies.ts'
import { findLeftovers, type Leftover } from './leftovers.ts'
import type { ReservationItem } from './ports/reservations.ts'
import type { WorkspaceLedger } from './ports/workspace-ledgers.ts'

export interface ResolverBounds {
  maxResolutions: number
  /** Limits each resolution, so that one that hangs does not use up the time of the others. */
  timeoutEachMs?: number
  /** ms since 1970, when this run is certainly over: it leases the workspace until then. */
  leaseUntilMs: number
  /** Leaves leases alone that ended more recently than this: this process's clock may be wrong. */
  clockErrorMs?: number
}

export interface WorkspaceReport {
  ended: number
  gaveBack: number
  failed: number
  /** Items in a form that this service does not write. */
  unreadable: number
  /** How long ago the oldest lease ended; 0: none has. */
  oldestMs: number
  /** Whether no leftover had to wait for another run; those that failed are in `failed`. */
  isComplete: boolean
  /** Another run has leased the workspace, or a request has set its next check. */
  isLeftToOthers?: true
}

/** What a run has found and done in one workspace. */
interface Check {
  report: WorkspaceReport
  /** How long ago the oldest lease ended among those that failed. */
  oldestFailedMs: number
  reservations: ReservationItem[]
  /**
   * All leases are judged as of this time: a write whose lease ends later may still have been in flight when we looked
   * for its effect.
   */
  asOfMs: number
  timeoutEachMs: number
  log: Log
}

/** The most resolutions at once in one workspace. */
const RESOLUTIONS_AT_ONCE = 16
const SHORTEST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 10 * 60 * 1000

/**
 * Resolves all leftovers in one workspace whose lease is over, if the workspace is due. A failure is logged and left to
 * a later run. Safe to run twice at once, and beside a process that goes on after its lease (docs/reliability.md).
 */
export async function resolveWorkspace(
  workspaceId: WorkspaceId,
  { maxResolutions, timeoutEachMs = Number.POSITIVE_INFINITY, leaseUntilMs, clockErrorMs = 0 }: ResolverBounds,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<WorkspaceReport> {
  const report: WorkspaceReport = { ended: 0, gaveBack: 0, failed: 0, unreadable: 0, oldestMs: 0, isComplete: true }
  const log = deps.log.with({ workspace_id: workspaceId })
  const check: Check = {
    report,
    oldestFailedMs: 0,
    reservations: [],
    asOfMs: deps.now() - clockErrorMs,
    timeoutEachMs,
    log,
  }
  const before = await deps.workspaces.read(workspaceId, signal)
  if (before === undefined) return report
  const dueAtMs = before.checkDueAtMs
  if (dueAtMs === undefined || dueAtMs > deps.now()) return { ...report, isLeftToOthers: true }
  await readReservations(workspaceId, check, deps, signal)

  const isOver = ({ leaseExpiresAtMs }: { leaseExpiresAtMs: number }) => leaseExpiresAtMs <= check.asOfMs
  if (![...before.takings, ...before.releases, ...check.reservations].some(isOver)) {
    await reschedule(before, dueAtMs, check, deps, signal)
    return report
  }

  // Markers are read after the reservations: one that is still there may have no counterpart yet; for one that is gone,
  // the counterpart was written. The version is the earlier one, so that no later change is missed.
  const ledger = await deps.workspaces.lease(workspaceId, { seenDueAtMs: dueAtMs, untilMs: leaseUntilMs }, signal)
  if (ledger === undefined) return { ...report, isLeftToOthers: true }
  // Leases begun here end with the run, so that the next one may finish the work.
  const ownDeps = { ...deps, leaseMs: Math.max(0, leaseUntilMs - deps.now()) }
  for (const leftovers of findLeftovers(ledger, check.reservations, isOver, ownDeps)) {
    const room = Math.max(0, maxResolutions - (report.ended + report.gaveBack + report.failed))
    if (leftovers.length > room) report.isComplete = false
    const chosen = leftovers.slice(0, room)
    await pMap(chosen, (each) => resolveLeftover(each, check, deps, signal), { concurrency: RESOLUTIONS_AT_ONCE })
  }
  await reschedule({ ...ledger, version: before.version }, leaseUntilMs, check, deps, signal)
  return report
}

async function readReservations(
  workspaceId: WorkspaceId,
  { report, reservations, log }: Check,
  deps: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  const onUnreadable = (error: Error) => {
    report.unreadable++
    log.error('unreadable item of Reservations skipped', { error })
  }
  for await (const each of deps.reservations.list(workspaceId, signal, onUnreadable)) reservations.push(each)
}

async function resolveLeftover(
  { what, subject, resolve }: Leftover,
  check: Check,
  { now }: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { report, timeoutEachMs, log } = check
  const fields = { what, attempt_id: subject.attemptId }
  const endedAgoMs = now() - subject.leaseExpiresAtMs
  report.oldestMs = Math.max(report.oldestMs, endedAgoMs)
  try {
    const bounded = Number.isFinite(timeoutEachMs) ? [signal, AbortSignal.timeout(timeoutEachMs)] : [signal]
    const resolution = await resolve(AbortSignal.any(bounded))
    report[resolution]++
    log.info('leftover resolved', { ...fields, resolution })
  } catch (error) {
    report.failed++
    check.oldestFailedMs = Math.max(check.oldestFailedMs, endedAgoMs)
    log.error('leftover not resolved, left to a later run', { ...fields, error })
  }
}

/** Sets the next check: none, if nothing is left and nothing has changed since the ledger was first read. */
async function reschedule(
  { workspaceId, takings, releases, version }: WorkspaceLedger,
  seenDueAtMs: number,
  check: Check,
  { workspaces, now, leaseMs }: ResolverDependencies,
  signal: AbortSignal,
): Promise<void> {
  const all = [...takings, ...releases, ...check.reservations]
  const isAllDone = all.length === 0 && check.report.unreadable === 0
  // Leases that were judged as running: if one has ended since then, the workspace is due at once.
  const running = all.map(({ leaseExpiresAtMs }) => leaseExpiresAtMs).filter((endMs) => endMs > check.asOfMs)
  const next = isAllDone ? { nextMs: undefined, version } : { nextMs: nextCheckMs(running, check, now(), leaseMs) }
  await workspaces.reschedule(workspaceId, { seenDueAtMs, ...next }, signal)
}

/**
 * The end of the next lease. Failures are postponed for longer each time, by a quarter of the time since their lease
 * ended, so that they hold up nobody; no state need be kept for that.
 */
function nextCheckMs(running: number[], { report, oldestFailedMs }: Check, nowMs: number, leaseMs: number): number {
  if (report.failed > 0) {
    const delayMs = Math.min(LONGEST_DELAY_MS, Math.max(SHORTEST_DELAY_MS, oldestFailedMs / 4))
    return Math.min(...running, Math.round(nowMs + delayMs))
  }
  if (!report.isComplete) return nowMs + SHORTEST_DELAY_MS
  return Math.min(...running, nowMs + leaseMs)
}
