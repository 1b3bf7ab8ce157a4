import type { WorkspaceId } from '../ids.ts'
import type { ReservationItem } from '../ledger/ports/reservations.ts'
import { resolveWorkspace } from '../ledger/resolve-workspace.ts'
import { type AuditContext, reportFinding, type WorkspaceAudit } from './audit-context.ts'
import type { UnfinishedUpload } from './ports/object-maintenance.ts'

/** For this long, a leftover is left to the resolver: the audit's clock may be wrong. */
const OVERDUE_MS = 10 * 60 * 1000
/** A promotion lasts seconds, so an upload this old was abandoned. */
const OLD_UPLOAD_MS = 60 * 60 * 1000

/** What dead processes have left in a workspace and nobody has resolved. */
export async function auditLeftovers(audit: WorkspaceAudit): Promise<void> {
  const { workspaceId, deps, signal } = audit
  const ledger = await deps.workspaces.read(workspaceId, signal)
  const reservations = await readReservations(audit)
  const all = [
    ...(ledger?.takings.map((taking) => ({ ...taking, leftover: 'taking' as const })) ?? []),
    ...(ledger?.releases.map((release) => ({ ...release, leftover: release.cause })) ?? []),
    // Items with other purposes hold no bytes.
    ...reservations.flatMap((each) => (each.purpose === 'promotion' ? { ...each, leftover: each.purpose } : [])),
  ]
  // All are resolved together, once: they depend on each other.
  let isResolved: Promise<boolean> | undefined
  const resolve = () => (isResolved ??= resolveLeftovers(audit))
  for (const each of all) {
    if (!isOverdue(each, audit)) continue
    const { attemptId, leftover, sizeBytes, leaseExpiresAtMs } = each
    const overdueMs = deps.now() - leaseExpiresAtMs
    const finding = { workspaceId, kind: 'old_leftover', attemptId, leftover, sizeBytes, overdueMs } as const
    await reportFinding(finding, audit, resolve)
  }
}

/** @returns false when others are at work on them, or something failed */
async function resolveLeftovers({ workspaceId, deps, signal }: WorkspaceAudit): Promise<boolean> {
  // Without a ledger nothing can be given back: audit-usage.ts makes one first.
  if ((await deps.workspaces.read(workspaceId, signal)) === undefined) return false
  const nowMs = deps.now()
  await deps.quota.schedule({ workspaceId, leaseExpiresAtMs: nowMs }, signal)
  const bounds = {
    maxResolutions: Number.POSITIVE_INFINITY,
    leaseUntilMs: nowMs + deps.leaseMs,
    clockErrorMs: OVERDUE_MS,
  }
  const { failed, isLeftToOthers } = await resolveWorkspace(workspaceId, bounds, deps, signal)
  return failed === 0 && !isLeftToOthers
}

export function isOverdue({ leaseExpiresAtMs }: { leaseExpiresAtMs: number }, { deps }: AuditContext): boolean {
  return leaseExpiresAtMs <= deps.now() - OVERDUE_MS
}

export async function readReservations({ workspaceId, deps, signal }: WorkspaceAudit): Promise<ReservationItem[]> {
  const all: ReservationItem[] = []
  for await (const reservation of deps.reservations.list(workspaceId, signal)) all.push(reservation)
  return all
}

export async function auditUpload(
  workspaceId: WorkspaceId,
  { objectKey, startedAtMs }: UnfinishedUpload,
  context: AuditContext,
): Promise<void> {
  const { deps, signal } = context
  const ageMs = deps.now() - startedAtMs
  if (ageMs < OLD_UPLOAD_MS) return
  // Only the upload is aborted: the object of the same key may be a document's.
  await reportFinding({ workspaceId, kind: 'old_upload', objectKey, ageMs }, context, () =>
    deps.objects.abortUploads(objectKey, signal),
  )
}
