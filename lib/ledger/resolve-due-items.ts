import pMap from 'p-map'
import type { WorkspaceId } from '../ids.ts'
import type { LedgerDependencies } from './dependencies.ts'
import type { DueEntry, DueKind, DueWork } from './ports/documents.ts'
import { UnreadableItemError } from './ports/unreadable-item.ts'
import { resolveDueItem } from './resolve-due-item.ts'

export interface ResolverRun {
  /** Shards of the index of due work; omitted: all. Other runs have the other shards. */
  shards?: readonly number[]
  /** Limits the work on one item, so that one that hangs does not use up the time of the others. */
  timeoutEachMs: number
}

export interface ResolverReport {
  resolved: number
  /** Those whose bytes it freed. */
  freed: number
  failed: number
  unlisted: number
  /** How long the oldest item that is left had been due; 0: none is left. */
  oldestMs: number
}

/** The most items that a run works on at once, over all its shards. */
const ITEMS_AT_ONCE = 64
/** After so many, it is the turn of another workspace. */
const ITEMS_OF_TURN = 10
/** More of a workspace than a run gets to: the others are left to later runs. */
const MOST_WAITING = 5000
/**
 * After this many failures, a run takes the rest of a workspace in random order: the items due longest may always fail,
 * and would hold up the others in every run. Their due times must not move: they are expiries, and alarms rely on them.
 */
const FAILURES_IN_ORDER = 10
/** After so many failures, a workspace is left to a later run. */
const MOST_FAILURES = 20

interface Due {
  waiting: DueEntry[]
  isBusy: boolean
  failures: number
}

/**
 * Works through all that is due, the longest due first. Each shard works on one item of a workspace at a time: sixteen
 * deletions can share the ledger's seven places for refunds, and leave some for callers. Workspaces take turns. What
 * fails is logged and stays due, and so does what is left when the signal aborts: later runs find it.
 */
export async function resolveDueItems(
  kind: DueKind,
  { shards, timeoutEachMs }: ResolverRun,
  deps: LedgerDependencies & { dueWork: DueWork },
  signal: AbortSignal,
): Promise<ResolverReport> {
  const nowMs = deps.now()
  const report: ResolverReport = { resolved: 0, freed: 0, failed: 0, unlisted: 0, oldestMs: 0 }
  const ownShards = shards ?? deps.dueWork.dueShards
  const concurrency = Math.ceil(ITEMS_AT_ONCE / ownShards.length)
  await Promise.all(ownShards.map((shard) => resolveShard(shard)))
  return report

  async function resolveShard(shard: number): Promise<void> {
    const workspaces = new Map<WorkspaceId, Due>()
    let isListed = false
    await pMap(eachTurn(), takeTurn, { concurrency })

    /** Yields a workspace for each turn: one each per page. If listing fails, the run does only what was listed. */
    async function* eachTurn(): AsyncGenerator<Due> {
      try {
        for await (const page of deps.dueWork.listDue({ kind, shard, byMs: nowMs }, signal)) {
          for (const entry of page) {
            const workspace = workspaces.get(entry.workspaceId) ?? { isBusy: false, failures: 0, waiting: [] }
            workspaces.set(entry.workspaceId, workspace)
            if (signal.aborted || workspace.waiting.length === MOST_WAITING) leave(entry)
            else workspace.waiting.push(entry)
          }
          yield* oneRound()
        }
      } catch (error) {
        if (!signal.aborted) {
          report.unlisted++
          deps.log.error('due work not listed, left to a later run', { kind, shard, error })
        }
      }
      while ([...workspaces.values()].some(isReady)) yield* oneRound()
      isListed = true
    }

    function* oneRound(): Generator<Due> {
      for (const workspace of workspaces.values()) {
        if (!isReady(workspace)) continue
        workspace.isBusy = true
        yield workspace
      }
    }

    /** Ends after some items, so that other workspaces get a turn; once none waits for one, it does all the rest. */
    async function takeTurn(workspace: Due): Promise<void> {
      const { waiting } = workspace
      for (let count = 0; count < ITEMS_OF_TURN || isListed; count++) {
        const next = workspace.failures < FAILURES_IN_ORDER ? 0 : Math.floor(Math.random() * waiting.length)
        const [each] = waiting.splice(next, 1)
        if (each === undefined) break
        if (signal.aborted || workspace.failures >= MOST_FAILURES) leave(each)
        else if (!(await resolve(each))) workspace.failures++
      }
      workspace.isBusy = false
    }
  }

  /** @returns false when others of the workspace may fail, too */
  async function resolve(entry: DueEntry): Promise<boolean> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutEachMs)])
    const fields = { workspace_id: entry.workspaceId, item_id: entry.itemId }
    try {
      // The index lags: the item itself tells whether it is due.
      const item = await deps.dueWork.findDue(entry, bounded)
      const freed = item && (await resolveDueItem(item, nowMs, deps, bounded))
      if (freed === undefined) return true
      report.resolved++
      if (freed) report.freed++
      if (kind === 'work') deps.log.info('leftover resolved', { ...fields, what: item?.state })
      return true
    } catch (error) {
      leave(entry)
      if (signal.aborted) return true
      report.failed++
      const what = kind === 'work' ? 'leftover not resolved' : 'expired document not deleted'
      deps.log.error(`${what}, left to a later run`, { ...fields, error })
      return error instanceof UnreadableItemError
    }
  }

  function leave({ dueAtMs }: DueEntry): void {
    report.oldestMs = Math.max(report.oldestMs, deps.now() - dueAtMs)
  }
}

const isReady = ({ waiting, isBusy }: Due) => waiting.length > 0 && !isBusy
