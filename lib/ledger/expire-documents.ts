import pMap from 'p-map'
import type { WorkspaceId } from '../ids.ts'
import type { Log } from '../logging.ts'
import { deleteFound } from './delete-document.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { hasExpired } from './expiry.ts'
import type { DocumentExpiries, ExpiredDocument } from './ports/document-expiries.ts'
import { UnreadableItemError } from './ports/unreadable-item.ts'
import type { ResolverRun } from './resolve-due-workspaces.ts'

export interface ExpiryReport {
  /** Documents whose bytes this run gave back. */
  expired: number
  failed: number
  /** Shards that could not be listed. */
  unlisted: number
  /** How long ago the oldest of those that are left had expired; 0: none is left. */
  oldestMs: number
}

/** The most documents that a run works on at once, over all its shards. */
const DOCUMENTS_AT_ONCE = 64
/** Their ledger has seven places for releases: these need two of them on average, and callers some. */
const OF_WORKSPACE_AT_ONCE = 8
/** After so many, it is the turn of another workspace. */
const DOCUMENTS_OF_TURN = 10
/** More of a workspace than a run gets to: the others are left to later runs. */
const MOST_WAITING = 5000
/** After so many failures, a workspace is left to a later run. */
const MOST_FAILURES = 20

/** A workspace's expired documents, and how many are deleted just now. */
interface Expiring {
  waiting: ExpiredDocument[]
  atOnce: number
  failures: number
}

/**
 * Deletes what has expired by the ordinary deletion, oldest first, a few of each workspace at once. Workspaces with many
 * documents take turns. Once a document is a tombstone, whatever fails is a leftover.
 */
export async function expireDocuments(
  { shards, timeoutEachMs, endsAtMs }: Pick<ResolverRun, 'shards'> & { timeoutEachMs: number; endsAtMs: number },
  deps: LedgerDependencies & { expiries: DocumentExpiries; log: Log },
  signal: AbortSignal,
): Promise<ExpiryReport> {
  const nowMs = deps.now()
  const report: ExpiryReport = { expired: 0, failed: 0, unlisted: 0, oldestMs: 0 }
  const ownShards = shards ?? deps.expiries.expiryShards
  const concurrency = Math.ceil(DOCUMENTS_AT_ONCE / ownShards.length)
  await Promise.all(ownShards.map((shard) => expireShard(shard)))
  return report

  async function expireShard(shard: number): Promise<void> {
    const workspaces = new Map<WorkspaceId, Expiring>()
    let isListed = false
    await pMap(eachTurn(), takeTurn, { concurrency })

    /** Yields a workspace for each turn: all get one a page. If listing fails, the run ends with what was listed. */
    async function* eachTurn(): AsyncGenerator<Expiring> {
      try {
        for await (const page of deps.expiries.listExpired({ shard, nowMs }, signal)) {
          for (const document of page) {
            const { workspaceId } = document
            const workspace = workspaces.get(workspaceId) ?? { atOnce: 0, failures: 0, waiting: [] }
            workspaces.set(workspaceId, workspace)
            if (signal.aborted || workspace.waiting.length === MOST_WAITING) leave(document)
            else workspace.waiting.push(document)
          }
          yield* oneRound()
        }
      } catch (error) {
        if (!signal.aborted) {
          report.unlisted++
          deps.log.error('expired documents not listed, left to a later run', { shard, error })
        }
      }
      while ([...workspaces.values()].some(hasRoom)) yield* oneRound()
      isListed = true
    }

    function* oneRound(): Generator<Expiring> {
      for (const workspace of workspaces.values()) {
        if (!hasRoom(workspace)) continue
        workspace.atOnce++
        yield workspace
      }
    }

    /** Ends after some documents, so that others get their turn; when nobody waits for one, it goes on to the last. */
    async function takeTurn(workspace: Expiring): Promise<void> {
      const { waiting } = workspace
      for (let count = 0; count < DOCUMENTS_OF_TURN || isListed; count++) {
        const each = waiting.shift()
        if (each === undefined) break
        if (signal.aborted || workspace.failures >= MOST_FAILURES) leave(each)
        else if (!(await expire(each))) workspace.failures++
      }
      workspace.atOnce--
    }
  }

  /** @returns false when others of the workspace may fail, too */
  async function expire(entry: ExpiredDocument): Promise<boolean> {
    const { workspaceId, documentId } = entry
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutEachMs)])
    try {
      const document = await deps.documents.find(workspaceId, documentId, bounded)
      // The index lags: it may have been deleted, or kept for longer.
      if (!document || !hasExpired(document, nowMs)) return true
      // Leases begun here end with the run, so that the next one may finish the work.
      const ownDeps = { ...deps, leaseMs: Math.max(0, endsAtMs - deps.now()) }
      if ((await deleteFound(document, ownDeps, bounded, nowMs))?.usage) report.expired++
      return true
    } catch (error) {
      leave(entry)
      if (signal.aborted) return true
      report.failed++
      const fields = { workspace_id: workspaceId, document_id: documentId, error }
      deps.log.error('expired document not deleted, left to a later run', fields)
      return error instanceof UnreadableItemError
    }
  }

  function leave({ expiresAt }: ExpiredDocument): void {
    report.oldestMs = Math.max(report.oldestMs, deps.now() - expiresAt.getTime())
  }
}

const hasRoom = ({ waiting, atOnce }: Expiring) => waiting.length > 0 && atOnce < OF_WORKSPACE_AT_ONCE
