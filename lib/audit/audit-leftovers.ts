import type { AttemptId } from '../ids.ts'
import { cleanLedger, hasLeftovers } from '../ledger/clean-ledger.ts'
import type { DocumentItem, Stray } from '../ledger/ports/documents.ts'
import { resolveDueItem } from '../ledger/resolve-due-item.ts'
import { reportFinding, type WorkspaceAudit } from './audit-context.ts'
import type { StoredItem } from './ports/document-maintenance.ts'

/** For this long, a leftover is left to the resolver: the audit's clock may be wrong. */
const OVERDUE_MS = 10 * 60 * 1000
/** So is an expired document for longer: an alarm tells when the resolver does not keep up. */
const OVERDUE_EXPIRY_MS = 60 * 60 * 1000

export const isOverdue = (dueAtMs: number, nowMs: number) => dueAtMs <= nowMs - OVERDUE_MS

/**
 * Reports bytes that are still counted although nothing but their hold is left. A repair cleans other leftovers, too.
 * @param orphans attempts whose holds were overdue, and of which no item was seen since
 */
export async function auditHolds(orphans: readonly AttemptId[], audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal, options } = audit
  const ledger = await deps.ledger.read(workspaceId, signal)
  if (ledger === undefined) return
  // All are cleaned together, once.
  let cleaning: Promise<boolean> | undefined
  const clean = () => (cleaning ??= tryTo(() => cleanLedger(ledger, deps, signal), audit))
  for (const { attemptId, sizeBytes, leaseEndsAtMs } of ledger.holds) {
    if (!orphans.includes(attemptId)) continue
    const overdueMs = deps.now() - leaseEndsAtMs
    const finding = { workspaceId, kind: 'old_leftover', attemptId, leftover: 'hold', sizeBytes, overdueMs } as const
    await reportFinding(finding, audit, clean)
  }
  if (options.repair && hasLeftovers(ledger, deps.now() - OVERDUE_MS)) await clean()
}

const LEFTOVERS = { pending: 'promotion', stray: 'undo', deleting: 'deletion' } as const

/** Reports an item that the resolver should have gone on with. What looks like one in the listing is read again. */
export async function auditDueItem(listed: StoredItem, audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  if (overdueMsOf(listed, deps.now()) === undefined) return
  const item = await (listed.state === 'stray'
    ? deps.documents.findStray(listed, signal)
    : deps.documents.find(listed, signal))
  if (item?.attemptId !== listed.attemptId || item.state !== listed.state || item.state === 'gone') return
  const overdueMs = overdueMsOf(item, deps.now())
  if (overdueMs === undefined) return
  const { attemptId, documentId } = item
  if (item.state === 'ready') {
    const { sizeBytes } = item
    return reportFinding({ workspaceId, kind: 'overdue_expiry', documentId, sizeBytes, overdueMs }, audit)
  }
  const sizeBytes = 'sizeBytes' in item ? item.sizeBytes : undefined
  const leftover = LEFTOVERS[item.state]
  const finding = { workspaceId, kind: 'old_leftover', attemptId, leftover, sizeBytes, overdueMs } as const
  await reportFinding(finding, audit, () => tryTo(() => resolveDueItem(item, deps.now(), deps, signal), audit))
}

/** @returns undefined while there is nothing to do, or it is left to the resolver */
function overdueMsOf(item: DocumentItem | Stray, nowMs: number): number | undefined {
  if (item.state === 'gone') return undefined
  const dueAtMs = item.state === 'ready' ? item.expiresAt?.getTime() : (item.dueAtMs ?? 0)
  const isExpiry = item.state === 'ready' || (item.state === 'deleting' && item.isExpired)
  const patienceMs = isExpiry ? OVERDUE_EXPIRY_MS : OVERDUE_MS
  return dueAtMs !== undefined && dueAtMs <= nowMs - patienceMs ? nowMs - dueAtMs : undefined
}

/** A failure does not end the audit, which may yet make the ledger that a deletion lacks. @returns whether it worked */
async function tryTo(repair: () => Promise<unknown>, { workspaceId, deps, signal }: WorkspaceAudit): Promise<boolean> {
  try {
    await repair()
    return true
  } catch (error) {
    if (signal.aborted) throw error
    deps.log.warn('leftover not repaired, left to the resolver', { workspace_id: workspaceId, error })
    return false
  }
}
