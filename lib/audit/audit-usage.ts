import type { AttemptId, RefundId } from '../ids.ts'
import type { DeletedDocument, WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { Counts, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import { reportFinding, type WorkspaceAudit } from './audit-context.ts'
import { isOverdue } from './audit-leftovers.ts'
import type { NotAddedUpReason } from './findings.ts'
import type { StoredItem } from './ports/document-maintenance.ts'

/** The sum of a workspace's items, as far as they were read: plain JSON, which goes from slice to slice. */
export interface UsageSum {
  cut: LedgerCut
  cutAtMs: number
  /** Counted by the ledger at the cut: its own holds, and the items that say so. */
  atCut: Counts
  /** Counted once all were read: as above, with what was held since, and without what was refunded since. */
  atEnd: Counts
  /** The latest version of the ledger that an item mentions. */
  newestVersion: number
  /** Attempts that died with their bytes, as their holds tell, and of which no item was seen. */
  orphans: AttemptId[]
  /** The attempts seen of the document that was added last. */
  seen: { documentId?: string; attemptIds: AttemptId[] }
  /** Items that cannot be read are not in the sum. */
  isUnreadable?: true
}

interface LedgerCut extends Counts {
  /** Which ledger, and its version. Missing: there was none. */
  at?: { createdAtMs: number; version: number }
  holds: AttemptId[]
  refunds: RefundId[]
}

/** Less than the day for which tombstones live, by DynamoDB's clock. */
const MAX_CUT_AGE_MS = 20 * 60 * 60 * 1000

const NOTHING: Counts = { usedBytes: 0, documents: 0 }
const plus = ({ usedBytes, documents }: Counts, { sizeBytes }: { sizeBytes: number }): Counts => ({
  usedBytes: usedBytes + sizeBytes,
  documents: documents + 1,
})

export function beginSum(ledger: WorkspaceLedger | undefined, cutAtMs: number): UsageSum {
  const { usedBytes = 0, documents = 0, holds = [], refunds = [] } = ledger ?? {}
  const cut: LedgerCut = {
    ...(ledger && { at: { createdAtMs: ledger.createdAt.getTime(), version: ledger.version } }),
    usedBytes,
    documents,
    holds: holds.map(({ attemptId }) => attemptId),
    refunds: refunds.map(({ refundId }) => refundId),
  }
  const orphans = holds.filter((each) => isOverdue(each.leaseEndsAtMs, cutAtMs)).map(({ attemptId }) => attemptId)
  const atCut = holds.reduce(plus, NOTHING)
  return { cut, cutAtMs, atCut, atEnd: atCut, newestVersion: 0, orphans, seen: { attemptIds: [] } }
}

/** Items come in the order of their keys. @returns the sum with this item */
export function addItem(before: UsageSum, item: StoredItem): UsageSum {
  const sum = { ...before, orphans: before.orphans.filter((each) => each !== item.attemptId) }
  if (item.state === 'pending' || item.state === 'stray') return sum
  const { documentId, attemptId } = item
  // A tombstone that a document has replaced is kept beside it, and may already have been seen in its old place.
  const attemptIds = sum.seen.documentId === documentId ? sum.seen.attemptIds : []
  if (attemptIds.includes(attemptId)) return sum
  const { countedAtCut, countedAtEnd, newestVersion } = countOf(item, sum.cut)
  return {
    ...sum,
    newestVersion: Math.max(sum.newestVersion, newestVersion),
    seen: { documentId, attemptIds: [...attemptIds, attemptId] },
    atCut: countedAtCut ? plus(sum.atCut, item) : sum.atCut,
    atEnd: countedAtEnd ? plus(sum.atEnd, item) : sum.atEnd,
  }
}

/** Whether the ledger counted an item at its cut, and once all items were read (docs/reliability.md, "The audit"). */
function countOf(item: WorkspaceDocument | DeletedDocument, { at, holds, refunds }: LedgerCut) {
  // Without a ledger, everything comes before the cut.
  const version = at?.version ?? Number.POSITIVE_INFINITY
  const { countedFrom } = item
  const { refundId, refundVersion = 0 } = item.state === 'ready' ? {} : item
  // A refund that was in the ledger at the cut had not been paid by then.
  const wasPaid = refundId !== undefined && refundVersion <= version && !refunds.includes(refundId)
  const isPaidSince = refundId !== undefined && refundVersion > version
  // What is held is in both sums from the start.
  const isCountedByItem = !wasPaid && !holds.includes(item.attemptId)
  return {
    countedAtCut: isCountedByItem && countedFrom <= version,
    countedAtEnd: isCountedByItem && !isPaidSince,
    newestVersion: Math.max(countedFrom, refundVersion),
  }
}

/** Compares the sum of all items with what the ledger counted at the cut. */
export async function auditSum(sum: UsageSum, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const { at, usedBytes, documents } = sum.cut
  if (sum.isUnreadable) return reportNotAddedUp('unreadable', audit)
  const last = await deps.ledger.read(workspaceId, signal)
  // What an erasure removes it does not count back, so these sums say nothing. That is no reason for an alarm.
  if (last?.erasure) return
  // Versions start at the clock, in ms: if an item mentions one after the cut, a ledger has come and gone since.
  const isUnchanged = at?.version === last?.version && (at !== undefined || sum.newestVersion < sum.cutAtMs)
  const isReplaced = at?.createdAtMs !== last?.createdAt.getTime() || (last?.version ?? 0) < sum.newestVersion
  if (!isUnchanged && deps.now() - sum.cutAtMs > MAX_CUT_AGE_MS) return reportNotAddedUp('too_slow', audit)
  if (!isUnchanged && isReplaced) return reportNotAddedUp('ledger_replaced', audit)
  // Nothing came after the cut of a ledger that has not changed: items with later versions are from before its restore.
  const expected = isUnchanged ? sum.atEnd : sum.atCut
  if (usedBytes === expected.usedBytes && documents === expected.documents) return
  const drift = { counted: { usedBytes, documents }, expected, ...(at && { at }) }
  const facts = { usedBytes, expectedBytes: expected.usedBytes, documents, expectedDocuments: expected.documents }
  await reportFinding({ workspaceId, kind: 'drift', ...facts }, audit, () =>
    deps.workspaces.correct(workspaceId, drift, signal),
  )
}

function reportNotAddedUp(reason: NotAddedUpReason, { workspaceId, counters, options }: WorkspaceAudit): void {
  counters.notAddedUp++
  options.onNotAddedUp?.({ workspaceId, reason })
}
