import type { AttemptId, ReleaseId } from '../ids.ts'
import type { ReservationItem } from '../ledger/ports/reservations.ts'
import type { WorkspaceLedger } from '../ledger/ports/workspace-ledgers.ts'
import type { WorkspaceAudit } from './audit-context.ts'
import type { NotAddedUpReason } from './findings.ts'

/** What was counted at one version of a workspace's ledger: plain JSON. */
export interface LedgerCut {
  /** Missing: there was no ledger. */
  version?: number
  usedBytes: number
  underWayBytes: number
  /** The attempts that held these bytes. When their items are read, documents may hold them. */
  underWay: {
    /** How many versions before the cut their bytes were first counted, which names an attempt (each version is one write), shorter than its id. */
    versionsAgo: number[]
    /** Those whose first version is unknown, most of them because their bytes had just been taken. */
    attemptIds: AttemptId[]
  }
  /** Releases that had not given their bytes back. */
  releaseIds: ReleaseId[]
}

/** Each try takes as long as listing the reservations: some 20 ms. */
const MAX_TRIES = 50
/** Keeps small what goes from slice to slice: some 60 KB of JSON. */
const MAX_UNDER_WAY = 10_000

/**
 * Finds out what was under way at one moment in a workspace that keeps changing. All changes of the ledger are writes
 * of one item, so each read of it is a cut, and the reservations listed right after it belong to that cut. If one was
 * undone meanwhile, it tries again (docs/decisions/0022-adding-up-while-it-changes.md).
 * @returns why there is none
 */
export async function cutLedger({
  workspaceId,
  deps: { workspaces, reservations },
  signal,
}: WorkspaceAudit): Promise<LedgerCut | NotAddedUpReason> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await workspaces.read(workspaceId, signal)
    const reserved: ReservationItem[] = []
    for await (const reservation of reservations.list(workspaceId, signal)) {
      if (reserved.push(reservation) > MAX_UNDER_WAY) return 'too_many_under_way'
    }
    const after = await workspaces.read(workspaceId, signal)
    if (before?.undos === after?.undos) return toCut(before, reserved, after)
  }
  return 'keeps_changing'
}

/** Both undefined: there was no ledger. */
function toCut(
  before: WorkspaceLedger | undefined,
  reserved: ReservationItem[],
  after: WorkspaceLedger | undefined,
): LedgerCut {
  const { version, usedBytes = 0, takings = [], releases = [] } = before ?? {}
  const releasing = new Set([...releases, ...(after?.releases ?? [])].map(({ releaseId }) => releaseId))
  const underWay = new Map<AttemptId, { sizeBytes: number; countedFrom?: number }>()
  for (const taking of takings) underWay.set(taking.attemptId, taking)
  for (const reservation of reserved) {
    const { attemptId, releasedBy, countedFrom = 0, purpose } = reservation
    const wasGivenBack = releasedBy !== undefined && !releasing.has(releasedBy)
    if (purpose !== 'promotion' || wasGivenBack) continue
    const isLater = before && after && countedFrom > before.version && countedFrom <= after.version
    // A version beyond the ledger's own is older than its restore from a backup.
    if (!isLater || underWay.has(attemptId)) underWay.set(attemptId, reservation)
  }
  const versionsAgo: number[] = []
  const attemptIds: AttemptId[] = []
  let underWayBytes = 0
  for (const [attemptId, { sizeBytes, countedFrom }] of underWay) {
    underWayBytes += sizeBytes
    if (countedFrom === undefined || version === undefined) attemptIds.push(attemptId)
    else versionsAgo.push(version - countedFrom)
  }
  const releaseIds = releases.map(({ releaseId }) => releaseId)
  const cut = { usedBytes, underWayBytes, underWay: { versionsAgo, attemptIds }, releaseIds }
  return version === undefined ? cut : { version, ...cut }
}
