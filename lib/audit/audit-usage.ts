import type { CountedBytes } from '../ledger/ports/document-records.ts'
import { reportFinding, type WorkspaceAudit } from './audit-context.ts'
import type { NotAddedUpReason } from './findings.ts'
import { cutLedger, type LedgerCut } from './ledger-cut.ts'
import type { AuditedItem } from './ports/document-maintenance.ts'

/**
 * The bytes of a workspace's items of Documents, as far as they were read: plain JSON, which goes from slice to slice. Items may be
 * read for hours while the workspace changes: each tells whether the ledger counted its bytes at the cut.
 */
export interface UsageSum {
  /** What the items are compared with, or why that is not possible. */
  cut: LedgerCut | NotAddedUpReason
  cutAtMs: number
  /** Of items that the ledger counted at the cut, excluding attempts under way at the cut. */
  bytesAtCut: number
  /** Of documents that came after the cut. */
  bytesSince: number
  /** The latest version of the ledger that an item mentions. */
  newestVersion: number
  /** Since the cut, a document was replaced twice: what was there then is not told. */
  isUntold?: boolean
}

/** Less than the day for which tombstones live, by DynamoDB's clock. */
const MAX_CUT_AGE_MS = 20 * 60 * 60 * 1000

/** Begins to add up a workspace: {@link itemAdder} then takes each item once, and {@link auditSum} compares. */
export async function beginSum(audit: WorkspaceAudit): Promise<UsageSum> {
  const cutAtMs = audit.deps.now()
  return { cut: await cutLedger(audit), cutAtMs, bytesAtCut: 0, bytesSince: 0, newestVersion: 0 }
}

/** @returns adds an item to a sum with this cut */
export function itemAdder({ cut }: UsageSum): (sum: UsageSum, item: AuditedItem) => UsageSum {
  if (typeof cut === 'string') return (sum) => sum
  const partOf = partsBy(cut)
  const add = (sum: UsageSum, counted: CountedBytes | undefined) => {
    if (counted === undefined) return sum
    const { sizeBytes, countedFrom, markedIn = 0 } = counted
    const newestVersion = Math.max(sum.newestVersion, countedFrom, markedIn)
    const part = partOf(counted)
    return { ...sum, newestVersion, ...(part && { [part]: sum[part] + sizeBytes }) }
  }
  return (sum, { counted, replaced }) => {
    const isUntold = replaced !== undefined && replaced.countedFrom > (cut.version ?? Number.POSITIVE_INFINITY)
    return { ...add(add(sum, counted), replaced), ...(isUntold && { isUntold }) }
  }
}

/** @returns tells which part of the sum an item belongs to; undefined: none */
function partsBy({ version = Number.POSITIVE_INFINITY, underWay, releaseIds }: LedgerCut) {
  const versionsAgo = new Set(underWay.versionsAgo)
  const attemptsUnderWay = new Set(underWay.attemptIds)
  const releasing = new Set(releaseIds)
  return ({ attemptId, countedFrom, releasedBy, markedIn }: CountedBytes): 'bytesAtCut' | 'bytesSince' | undefined => {
    // The cut has these bytes already.
    if (attemptsUnderWay.has(attemptId) || versionsAgo.has(version - countedFrom)) return undefined
    const isHandedOver = releasedBy !== undefined && markedIn !== undefined
    // A release that was in the ledger at the cut had not given the bytes back by then.
    if (isHandedOver && markedIn <= version && !releasing.has(releasedBy)) return undefined
    if (countedFrom <= version) return 'bytesAtCut'
    return isHandedOver ? undefined : 'bytesSince'
  }
}

/** Compares the sum of all items with what the ledger counted at the cut. */
export async function auditSum(sum: UsageSum, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const { cut } = sum
  if (typeof cut === 'string') return reportNotAddedUp(cut, audit)
  const { version, usedBytes, underWayBytes } = cut
  const lastVersion = (await deps.workspaces.read(workspaceId, signal))?.version
  const isUnchanged = version === lastVersion
  const isReplaced = version === undefined || lastVersion === undefined || lastVersion < sum.newestVersion
  const isTooLate = sum.isUntold || deps.now() - sum.cutAtMs > MAX_CUT_AGE_MS
  if (!isUnchanged && isTooLate) return reportNotAddedUp('too_slow', audit)
  if (!isUnchanged && isReplaced) return reportNotAddedUp('ledger_replaced', audit)
  // If the ledger has not changed, nothing came after the cut: items that say otherwise predate its restore.
  const expectedBytes = underWayBytes + sum.bytesAtCut + (isUnchanged ? sum.bytesSince : 0)
  if (usedBytes === expectedBytes) return
  const at = version !== undefined && lastVersion !== undefined && { at: { version, lastVersion } }
  const drift = { usedBytes, expectedBytes, ...at }
  await reportFinding({ workspaceId, kind: 'drift', usedBytes, expectedBytes }, audit, () =>
    deps.workspaces.correct(workspaceId, drift, signal),
  )
}

function reportNotAddedUp(reason: NotAddedUpReason, { workspaceId, counters, options }: WorkspaceAudit): void {
  counters.notAddedUp++
  options.onNotAddedUp?.({ workspaceId, reason })
}
