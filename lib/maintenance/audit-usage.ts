import type { WorkspaceId } from '../ids.ts'
import type { CountedAttempt, CountedBytes, DocumentRow } from './document-maintenance.ts'
import { type CutDependencies, cutLedger, type LedgerCut } from './ledger-cut.ts'

export interface UsageDependencies extends CutDependencies {
  now(): number
}

/** Why a workspace could not be added up. That is not a finding, but proves nothing either. */
export type NotAddedUpReason =
  /** Open reservations were undone without a pause. */
  | 'restless'
  | 'too_many_under_way'
  /** An older release of this service was at work, which does not record when bytes were counted. */
  | 'older_release'
  /** The sum took nearly as long as tombstones live. */
  | 'too_slow'
  /** The ledger was made, removed or restored from a backup meanwhile. */
  | 'ledger_replaced'
  /** Each sum found a different drift. */
  | 'inconsistent'
  /** Some documents cannot be read; each is reported by itself. */
  | 'unreadable'

interface UsageSum {
  /** Counted at the cut, and not under way. */
  heldBytes: number
  /** Counted after the cut, or since an unknown version. Used only if the ledger has not changed. */
  otherBytes: number
  /** Entries whose first or last counted version is unknown. */
  unrecorded: number
  /** Deletions of unknown size. */
  unrecordedDeletions: number
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
  /** The excess that earlier sums found, each from a cut of its own. */
  suspectedBytes: number[]
}

export type UsageResult =
  | { outcome: 'agrees' }
  /** There may be drift: add all rows up again, from the first, with this state. */
  | { outcome: 'again'; state: UsageState }
  | { outcome: 'drift'; usedBytes: number; expectedBytes: number; correct(): Promise<boolean> }
  | { outcome: 'not_added_up'; reason: NotAddedUpReason }

type Unrecorded = Extract<CountedBytes, { state: 'unrecorded' | 'truncated' }>
type Recorded = Exclude<CountedBytes, Unrecorded>

/** Tombstones live a day, by DynamoDB's clock. */
const MAX_AGE_MS = 20 * 60 * 60 * 1000
/** No clock is wrong by more. Only what older releases left is judged by a clock. */
const LONG_BEFORE_MS = 60 * 60 * 1000
const MAX_SUMS = 3

/**
 * Begins to add up a workspace while it keeps changing. After that, each row goes to {@link usageSum} once, in any
 * number of slices, and {@link endUsage} compares.
 */
export async function beginUsage(
  workspaceId: WorkspaceId,
  deps: UsageDependencies,
  signal: AbortSignal,
  suspectedBytes: number[] = [],
): Promise<UsageState> {
  const atMs = deps.now()
  const cut = await cutLedger(workspaceId, deps, signal)
  const sum = { heldBytes: 0, otherBytes: 0, unrecorded: 0, unrecordedDeletions: 0, newestVersion: 0 }
  return { workspaceId, ...(typeof cut === 'string' ? { reason: cut } : { cut }), atMs, sum, suspectedBytes }
}

/** `add` changes the state, which must be saved together with the place in the listing. */
export function usageSum(state: UsageState): { add(row: DocumentRow): void } {
  const { cut, sum } = state
  if (cut === undefined) return { add() {} }
  // Without a ledger there are only documents, and nobody counts.
  const { version = Number.POSITIVE_INFINITY, underWay } = cut
  const emptied = new Set(cut.emptied)
  const ages = new Set(underWay.ages)
  const attemptIds = new Set(underWay.attemptIds)
  const isUnderWay = ({ attemptId, countedFrom }: CountedAttempt) =>
    attemptIds.has(attemptId) || (countedFrom !== undefined && ages.has(version - countedFrom))

  return {
    add({ counted }) {
      for (const bytes of counted) {
        if (bytes.state === 'unrecorded' || bytes.state === 'truncated') addUnrecorded(bytes)
        else addCounted(bytes)
      }
    },
  }

  function addCounted(bytes: Recorded): void {
    const { state: kind, sizeBytes, countedFrom, createdAtMs } = bytes
    sum.newestVersion = Math.max(sum.newestVersion, countedFrom ?? 0, kind === 'former' ? bytes.countedThrough : 0)
    if (isUnderWay(bytes) || wasGivenBack(bytes)) return
    if (countedFrom === undefined ? wasLongBefore(createdAtMs) : countedFrom <= version) {
      sum.heldBytes += sizeBytes
      return
    }
    if (countedFrom === undefined) sum.unrecorded++
    if (kind !== 'former') sum.otherBytes += sizeBytes
  }

  function addUnrecorded(bytes: Unrecorded): void {
    if (bytes.state === 'truncated') sum.unrecorded += bytes.countedThrough >= version ? 1 : 0
    else if (bytes.finishedAtMs === undefined) sum.unrecordedDeletions++
    else if (!wasLongBefore(bytes.finishedAtMs)) sum.unrecorded++
  }

  function wasGivenBack(bytes: Recorded): boolean {
    if (bytes.state === 'retired') return emptied.has(bytes.retiredBy)
    return bytes.state === 'former' && bytes.countedThrough < version
  }

  function wasLongBefore(ms: number): boolean {
    return ms < state.atMs - LONG_BEFORE_MS
  }
}

/** Compares the sum of all rows with what was counted at the cut. */
export async function endUsage(state: UsageState, deps: UsageDependencies, signal: AbortSignal): Promise<UsageResult> {
  const { workspaceId, cut, sum, suspectedBytes } = state
  if (cut === undefined) return { outcome: 'not_added_up', reason: state.reason ?? 'restless' }

  const lastVersion = (await deps.ledgers.read(workspaceId, signal))?.version
  const isUnchanged = lastVersion === cut.version
  const reason =
    sum.unrecordedDeletions > 0 ? 'older_release' : isUnchanged ? undefined : whyNot(state, lastVersion, deps)
  if (reason) return { outcome: 'not_added_up', reason }

  const { usedBytes } = cut
  // If nothing has changed, all that is there now was there at the cut.
  const expectedBytes = cut.underWayBytes + sum.heldBytes + (isUnchanged ? sum.otherBytes : 0)
  const excessBytes = usedBytes - expectedBytes
  if (excessBytes === 0) return { outcome: 'agrees' }
  // An older release may undo what no cut shows, so one sum may be wrong, but never two by the same amount.
  if (isUnchanged || suspectedBytes.at(-1) === excessBytes) {
    const at = { version: cut.version ?? 0, lastVersion: lastVersion ?? 0 }
    const drift = { usedBytes, expectedBytes, ...(cut.version !== undefined && { at }) }
    return {
      outcome: 'drift',
      usedBytes,
      expectedBytes,
      correct: () => deps.ledgers.correct(workspaceId, drift, signal),
    }
  }
  if (suspectedBytes.length + 1 >= MAX_SUMS) return { outcome: 'not_added_up', reason: 'inconsistent' }
  return { outcome: 'again', state: await beginUsage(workspaceId, deps, signal, [...suspectedBytes, excessBytes]) }
}

/** Why a sum during which the ledger changed proves nothing. */
function whyNot(
  { cut, sum, atMs }: UsageState,
  lastVersion: number | undefined,
  { now }: UsageDependencies,
): NotAddedUpReason | undefined {
  if (now() - atMs > MAX_AGE_MS) return 'too_slow'
  if (cut?.version === undefined || lastVersion === undefined || lastVersion < sum.newestVersion)
    return 'ledger_replaced'
  return sum.unrecorded > 0 ? 'older_release' : undefined
}
