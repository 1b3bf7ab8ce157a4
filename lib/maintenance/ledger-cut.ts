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
  /** Deletions that had given their bytes back but were not finished. */
  emptied: ReleaseId[]
}

/** Each takes as long as listing the reservations: some 20 ms. */
const MAX_TRIES = 50
/** Keeps what goes from slice to slice small: some 60 KB of JSON. */
const MAX_UNDER_WAY = 10_000

/**
 * Cuts through everything that is under way in a workspace, while it keeps changing. All changes of the counter are
 * writes of one item, so each read of it is a cut, and the reservations listed right after it belong to that cut. If
 * one was undone meanwhile, it tries again (docs/decisions/0022-adding-up-while-it-changes.md).
 * @returns why there is none: `restless` when an attempt was undone during every try
 */
export async function cutLedger(
  workspaceId: WorkspaceId,
  { ledgers, reservations }: CutDependencies,
  signal: AbortSignal,
): Promise<LedgerCut | 'restless' | 'older_release' | 'too_many_under_way'> {
  let reason: 'restless' | 'older_release' = 'restless'
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await ledgers.read(workspaceId, signal)
    const open: OpenReservation[] = []
    for await (const reservation of reservations.list(workspaceId, signal)) {
      if (open.push(reservation) > MAX_UNDER_WAY) return 'too_many_under_way'
    }
    const after = await ledgers.read(workspaceId, signal)
    if (before?.undone !== after?.undone) continue
    const cut = toCut(before, open, after)
    if (cut) return cut
    reason = 'older_release'
  }
  return reason
}

/** @returns undefined when an older release opened a reservation just then: whether it belongs to the cut is unknown */
function toCut(
  before: WorkspaceLedger | undefined,
  open: OpenReservation[],
  after: WorkspaceLedger | undefined,
): LedgerCut | undefined {
  const { version, usedBytes = 0, takings = [], releases = [] } = before ?? {}
  const held = new Map<AttemptId, { sizeBytes: number; countedFrom?: number }>()
  for (const taking of takings) held.set(taking.attemptId, taking)
  const marked = new Set([...releases, ...(after?.releases ?? [])].map(({ releaseId }) => releaseId))
  for (const reservation of open) {
    const { attemptId, closedBy, purpose } = reservation
    const isReleased = closedBy !== undefined && !marked.has(closedBy)
    if (purpose !== 'promotion' || isReleased) continue
    const wasThere = held.has(attemptId) || wasTakenBefore(reservation, before, after)
    if (wasThere === undefined) return undefined
    if (wasThere) held.set(attemptId, reservation)
  }
  const ages: number[] = []
  const attemptIds: AttemptId[] = []
  let underWayBytes = 0
  for (const [attemptId, { sizeBytes, countedFrom }] of held) {
    underWayBytes += sizeBytes
    if (countedFrom === undefined || version === undefined) attemptIds.push(attemptId)
    else ages.push(version - countedFrom)
  }
  const emptied = releases.filter(({ purpose, sizeBytes }) => purpose === 'deletion' && sizeBytes === 0)
  return {
    ...(version !== undefined && { version }),
    usedBytes,
    underWayBytes,
    underWay: { ages, attemptIds },
    emptied: emptied.map(({ releaseId }) => releaseId),
  }
}

function wasTakenBefore(
  { countedFrom }: OpenReservation,
  before: WorkspaceLedger | undefined,
  after: WorkspaceLedger | undefined,
): boolean | undefined {
  if (before === undefined || after === undefined || before.version === after.version) return true
  if (countedFrom === undefined) return undefined
  // A version beyond the ledger's own predates its restore from a backup.
  return countedFrom <= before.version || countedFrom > after.version
}
