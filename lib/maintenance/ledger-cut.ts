import type { AttemptId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { OpenReservation, Reservations } from '../promotion/reservations.ts'
import type { WorkspaceLedger } from '../promotion/workspace-ledgers.ts'
import type { LedgerMaintenance } from './ledger-maintenance.ts'

export interface CutDependencies {
  ledgers: LedgerMaintenance
  reservations: Reservations
}

/** What was counted at one version of a workspace's ledger: plain JSON. */
export interface LedgerCut {
  /** Missing: there was no ledger. */
  version?: number
  usedBytes: number
  underWayBytes: number
  underWay: {
    /** `version` less `countedFrom`: how many versions before the cut they were counted. */
    ages: number[]
    /** Those with unknown `countedFrom`, most of them because their bytes had just been taken. */
    attemptIds: AttemptId[]
  }
  /** Releases that had not given their bytes back. */
  releaseIds: ReleaseId[]
}

export type NoCutReason =
  /** Open reservations were undone without a pause. */
  'restless' | 'too_many_under_way'

/** Each takes as long as listing the reservations: some 20 ms. */
const MAX_TRIES = 50
/** Keeps what goes from slice to slice small: some 60 KB of JSON. */
const MAX_UNDER_WAY = 10_000

/**
 * Cuts through everything that is under way in a workspace, while it keeps changing. All changes of the counter are
 * writes of one item, so each read of it is a cut, and the reservations listed right after it belong to that cut. If
 * one was undone meanwhile, it tries again (docs/decisions/0022-adding-up-while-it-changes.md).
 * @returns why there is none
 */
export async function cutLedger(
  workspaceId: WorkspaceId,
  { ledgers, reservations }: CutDependencies,
  signal: AbortSignal,
): Promise<LedgerCut | NoCutReason> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await ledgers.read(workspaceId, signal)
    const open: OpenReservation[] = []
    for await (const reservation of reservations.list(workspaceId, signal)) {
      if (open.push(reservation) > MAX_UNDER_WAY) return 'too_many_under_way'
    }
    const after = await ledgers.read(workspaceId, signal)
    if (before?.undone === after?.undone) return toCut(before, open, after)
  }
  return 'restless'
}

function toCut(
  before: WorkspaceLedger | undefined,
  open: OpenReservation[],
  after: WorkspaceLedger | undefined,
): LedgerCut {
  const { version, usedBytes = 0, takings = [], releases = [] } = before ?? {}
  const held = new Map<AttemptId, { sizeBytes: number; countedFrom?: number }>()
  for (const taking of takings) held.set(taking.attemptId, taking)
  const marked = new Set([...releases, ...(after?.releases ?? [])].map(({ releaseId }) => releaseId))
  for (const reservation of open) {
    const { attemptId, closedBy, purpose } = reservation
    const isReleased = closedBy !== undefined && !marked.has(closedBy)
    if (purpose !== 'promotion' || isReleased) continue
    if (held.has(attemptId) || wasTakenBefore(reservation, before, after)) held.set(attemptId, reservation)
  }
  const ages: number[] = []
  const attemptIds: AttemptId[] = []
  let underWayBytes = 0
  for (const [attemptId, { sizeBytes, countedFrom }] of held) {
    underWayBytes += sizeBytes
    if (countedFrom === undefined || version === undefined) attemptIds.push(attemptId)
    else ages.push(version - countedFrom)
  }
  return {
    ...(version !== undefined && { version }),
    usedBytes,
    underWayBytes,
    underWay: { ages, attemptIds },
    releaseIds: releases.map(({ releaseId }) => releaseId),
  }
}

function wasTakenBefore(
  { countedFrom = 0 }: OpenReservation,
  before: WorkspaceLedger | undefined,
  after: WorkspaceLedger | undefined,
): boolean {
  if (before === undefined || after === undefined || before.version === after.version) return true
  // A version beyond the ledger's own predates its restore from a backup.
  return countedFrom <= before.version || countedFrom > after.version
}
