import type { WorkspaceId } from '../ids.ts'
import type { CountedBytes, DocumentRow } from './document-maintenance.ts'
import { type CutDependencies, cutLedger, type LedgerCut, type NoCutReason } from './ledger-cut.ts'

export interface UsageDependencies extends CutDependencies {
  now(): number
}

/** Why a workspace could not be added up. That is not a finding, but proves nothing either. */
export type NotAddedUpReason =
  | NoCutReason
  /** The sum took nearly as long as tombstones live. */
  | 'too_slow'
  /** The ledger was made, removed or restored from a backup meanwhile. */
  | 'ledger_replaced'
  /** Some documents cannot be read; each is reported by itself. */
  | 'unreadable'

interface UsageSum {
  /** Counted at the cut, and not under way. */
  heldBytes: number
  /** Counted after the cut. Used only if the ledger has not changed. */
  otherBytes: number
  newestVersion: number
}

/** How far adding up a workspace has come, between two slices: plain JSON. */
export interface UsageState {
  workspaceId: WorkspaceId
  /** Missing: there is no cut, for this reason. */
  cut?: LedgerCut
  reason?: NotAddedUpReason
  atMs: number
  sum: UsageSum
}

export type UsageResult =
  | { outcome: 'agrees' }
  | { outcome: 'drift'; usedBytes: number; expectedBytes: number; correct(): Promise<boolean> }
  | { outcome: 'not_added_up'; reason: NotAddedUpReason }

/** Tombstones live a day, by DynamoDB's clock. */
const MAX_AGE_MS = 20 * 60 * 60 * 1000

/**
 * Begins to add up a workspace while it keeps changing. After that, each row goes to {@link usageSum} once, in any
 * number of slices, and {@link endUsage} compares.
 */
export async function beginUsage(
  workspaceId: WorkspaceId,
  deps: UsageDependencies,
  signal: AbortSignal,
): Promise<UsageState> {
  const atMs = deps.now()
  const cut = await cutLedger(workspaceId, deps, signal)
  const sum = { heldBytes: 0, otherBytes: 0, newestVersion: 0 }
  return { workspaceId, ...(typeof cut === 'string' ? { reason: cut } : { cut }), atMs, sum }
}

/** `add` changes the state, which must be saved together with the place in the listing. */
export function usageSum(state: UsageState): { add(row: DocumentRow): void } {
  const { cut, sum } = state
  if (cut === undefined) return { add() {} }
  // Without a ledger there are only documents, and nobody counts.
  const { version = Number.POSITIVE_INFINITY, underWay } = cut
  const releaseIds = new Set(cut.releaseIds)
  const ages = new Set(underWay.ages)
  const attemptIds = new Set(underWay.attemptIds)

  return {
    add({ counted }) {
      if (counted === undefined) return
      const { sizeBytes, countedFrom = 0, closedIn = 0 } = counted
      sum.newestVersion = Math.max(sum.newestVersion, countedFrom, closedIn)
      if (isUnderWay(counted) || wasGivenBack(counted)) return
      if (countedFrom <= version) sum.heldBytes += sizeBytes
      else if (counted.closedBy === undefined) sum.otherBytes += sizeBytes
    },
  }

  function isUnderWay({ attemptId, countedFrom }: CountedBytes): boolean {
    return attemptIds.has(attemptId) || (countedFrom !== undefined && ages.has(version - countedFrom))
  }

  function wasGivenBack({ closedBy, closedIn = Number.POSITIVE_INFINITY }: CountedBytes): boolean {
    return closedBy !== undefined && closedIn <= version && !releaseIds.has(closedBy)
  }
}

/** Compares the sum of all rows with what was counted at the cut. */
export async function endUsage(state: UsageState, deps: UsageDependencies, signal: AbortSignal): Promise<UsageResult> {
  const { workspaceId, cut, sum } = state
  if (cut === undefined) return { outcome: 'not_added_up', reason: state.reason ?? 'restless' }

  const lastVersion = (await deps.ledgers.read(workspaceId, signal))?.version
  const isUnchanged = lastVersion === cut.version
  const reason = isUnchanged ? undefined : whyNot(state, lastVersion, deps)
  if (reason) return { outcome: 'not_added_up', reason }

  const { usedBytes } = cut
  // If nothing has changed, all that is there now was there at the cut.
  const expectedBytes = cut.underWayBytes + sum.heldBytes + (isUnchanged ? sum.otherBytes : 0)
  if (usedBytes === expectedBytes) return { outcome: 'agrees' }
  const at = { version: cut.version ?? 0, lastVersion: lastVersion ?? 0 }
  const drift = { usedBytes, expectedBytes, ...(cut.version !== undefined && { at }) }
  return { outcome: 'drift', usedBytes, expectedBytes, correct: () => deps.ledgers.correct(workspaceId, drift, signal) }
}

/** Why a sum during which the ledger changed proves nothing. */
function whyNot(
  { cut, sum, atMs }: UsageState,
  lastVersion: number | undefined,
  { now }: UsageDependencies,
): NotAddedUpReason | undefined {
  if (now() - atMs > MAX_AGE_MS) return 'too_slow'
  const isReplaced = cut?.version === undefined || lastVersion === undefined || lastVersion < sum.newestVersion
  return isReplaced ? 'ledger_replaced' : undefined
}
