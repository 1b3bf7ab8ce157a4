import type { WorkspaceId } from '../../lib/promotion/ids.ts'
import type { QuotaLedger, Reservation, StorageUsage } from '../../lib/promotion/ports.ts'

interface Workspace {
  quotaBytes: number
  remainingBytes: number
  reservations: Map<string, Reservation>
}

export interface FakeQuotaLedger extends QuotaLedger {
  workspaces: Map<WorkspaceId, Workspace>
}

export function createFakeQuotaLedger(options: {
  defaultQuotaBytes: number
  maxReservations: number
}): FakeQuotaLedger {
  const workspaces: FakeQuotaLedger['workspaces'] = new Map()
  const usageOf = ({ quotaBytes, remainingBytes }: Workspace): StorageUsage => ({
    quotaBytes,
    usedBytes: quotaBytes - remainingBytes,
  })
  const open = ({ workspaceId, documentId, attemptId }: Reservation) => {
    const workspace = workspaces.get(workspaceId)
    const reservation = workspace?.reservations.get(documentId)
    return workspace && reservation?.attemptId === attemptId ? { workspace, reservation } : undefined
  }
  return {
    workspaces,
    async reserve(reservation) {
      const { workspaceId, documentId, attemptId, sizeBytes } = reservation
      const workspace = workspaces.get(workspaceId) ?? {
        quotaBytes: options.defaultQuotaBytes,
        remainingBytes: options.defaultQuotaBytes,
        reservations: new Map(),
      }
      workspaces.set(workspaceId, workspace)
      const existing = workspace.reservations.get(documentId)
      if (existing && existing.attemptId !== attemptId) return { outcome: 'in_progress' }
      if (!existing) {
        if (workspace.remainingBytes < sizeBytes) return { outcome: 'quota_exceeded', usage: usageOf(workspace) }
        if (workspace.reservations.size >= options.maxReservations) return { outcome: 'too_many_reservations' }
        workspace.remainingBytes -= sizeBytes
        workspace.reservations.set(documentId, reservation)
      }
      return { outcome: 'reserved', usage: usageOf(workspace) }
    },
    async settle(reservation) {
      open(reservation)?.workspace.reservations.delete(reservation.documentId)
    },
    async release(reservation) {
      const found = open(reservation)
      if (!found) return
      found.workspace.remainingBytes += found.reservation.sizeBytes
      found.workspace.reservations.delete(reservation.documentId)
    },
  }
}
