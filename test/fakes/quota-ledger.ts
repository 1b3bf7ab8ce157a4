import type { DocumentId, WorkspaceId } from '../../lib/promotion/ids.ts'
import type {
  Closing,
  LedgerOverview,
  OpenReservation,
  QuotaLedger,
  StorageUsage,
  WorkspaceAdministration,
  WorkspaceLedger,
} from '../../lib/promotion/ports.ts'

interface Workspace {
  quotaBytes: number
  remainingBytes: number
  reservations: Map<string, OpenReservation>
  version: number
}

export interface FakeQuotaLedger extends QuotaLedger, LedgerOverview, WorkspaceAdministration {
  workspaces: Map<WorkspaceId, Workspace>
}

export function createFakeQuotaLedger(options: {
  defaultQuotaBytes: number
  maxReservations: number
}): FakeQuotaLedger {
  const workspaces: FakeQuotaLedger['workspaces'] = new Map()
  const newWorkspace = (usedBytes = 0, quotaBytes = options.defaultQuotaBytes): Workspace => ({
    quotaBytes,
    remainingBytes: quotaBytes - usedBytes,
    reservations: new Map(),
    version: 0,
  })
  const usageOf = ({ quotaBytes, remainingBytes }: Workspace): StorageUsage => ({
    quotaBytes,
    usedBytes: quotaBytes - remainingBytes,
  })
  const toLedger = (workspaceId: WorkspaceId, workspace: Workspace): WorkspaceLedger => ({
    workspaceId,
    ...usageOf(workspace),
    reservations: [...workspace.reservations.values()],
    version: workspace.version,
  })
  /** Closes a reservation if it is there and of this attempt. */
  const close = (
    { workspaceId, documentId, attemptId, mayRepeat }: Closing,
    change: (workspace: Workspace, sizeBytes: number) => void,
  ) => {
    const workspace = workspaces.get(workspaceId)
    const reservation = workspace?.reservations.get(documentId)
    if (!workspace || reservation?.attemptId !== attemptId) return
    if (mayRepeat) workspace.reservations.set(documentId, { ...reservation, sizeBytes: 0, purpose: 'closed' })
    else workspace.reservations.delete(documentId)
    workspace.version++
    change(workspace, reservation.sizeBytes)
  }
  return {
    workspaces,
    async reserve(reservation) {
      const { workspaceId, documentId, attemptId, sizeBytes } = reservation
      const workspace = workspaces.get(workspaceId) ?? newWorkspace()
      workspaces.set(workspaceId, workspace)
      const existing = workspace.reservations.get(documentId)
      const open = [...workspace.reservations.values()]
      if (existing && existing.attemptId !== attemptId) return { outcome: 'in_progress', open, mayRepeat: false }
      if (!existing) {
        if (workspace.remainingBytes < sizeBytes)
          return { outcome: 'quota_exceeded', usage: usageOf(workspace), open, mayRepeat: false }
        if (open.length >= options.maxReservations) return { outcome: 'too_many_reservations', open, mayRepeat: false }
        workspace.remainingBytes -= sizeBytes
        workspace.reservations.set(documentId, { ...reservation, purpose: 'promotion' })
        workspace.version++
      }
      return { outcome: 'reserved', usage: usageOf(workspace), mayRepeat: existing !== undefined }
    },
    settle: async (reservation) => close(reservation, () => {}),
    release: async (reservation) =>
      close(reservation, (workspace, sizeBytes) => {
        workspace.remainingBytes += sizeBytes
      }),
    async releaseAndWatch(reservation) {
      close(reservation, (workspace, sizeBytes) => {
        workspace.remainingBytes += sizeBytes
      })
      const workspace = workspaces.get(reservation.workspaceId)
      const documentId = `late_copy_${reservation.attemptId}` as DocumentId
      workspace?.reservations.set(documentId, { ...reservation, documentId, sizeBytes: 0, purpose: 'late_copy' })
      if (workspace) workspace.version++
    },
    async beginDeletion(reservation) {
      const workspace = workspaces.get(reservation.workspaceId)
      const existing = workspace?.reservations.get(reservation.documentId)
      if (!workspace || (existing && existing.attemptId !== reservation.attemptId)) return { outcome: 'in_progress' }
      if (!existing) {
        workspace.reservations.set(reservation.documentId, { ...reservation, purpose: 'deletion' })
        workspace.version++
      }
      return { outcome: 'begun', mayRepeat: existing !== undefined }
    },
    isReserved: async ({ workspaceId, documentId }) =>
      workspaces.get(workspaceId)?.reservations.has(documentId) ?? false,
    async usage(workspaceId) {
      const workspace = workspaces.get(workspaceId)
      return workspace && usageOf(workspace)
    },
    async *list({ onlyWithReservations }) {
      for (const [workspaceId, workspace] of workspaces) {
        if (!onlyWithReservations || workspace.reservations.size > 0) yield toLedger(workspaceId, workspace)
      }
    },
    async read(workspaceId) {
      const workspace = workspaces.get(workspaceId)
      return workspace && toLedger(workspaceId, workspace)
    },
    async correct(workspaceId, { usedBytes, version }) {
      const workspace = workspaces.get(workspaceId)
      if (workspace?.version !== version) return false
      if (!workspace) workspaces.set(workspaceId, newWorkspace(usedBytes))
      else {
        workspace.remainingBytes = workspace.quotaBytes - usedBytes
        workspace.version++
      }
      return true
    },
    async create(workspaceId, quotaBytes) {
      const existing = workspaces.get(workspaceId)
      const workspace = existing ?? newWorkspace(0, quotaBytes)
      workspaces.set(workspaceId, workspace)
      return { isNew: existing === undefined, usage: usageOf(workspace) }
    },
    async setQuota(workspaceId, quotaBytes) {
      const workspace = workspaces.get(workspaceId)
      if (!workspace) return undefined
      const previousQuotaBytes = workspace.quotaBytes
      workspace.remainingBytes += quotaBytes - previousQuotaBytes
      workspace.quotaBytes = quotaBytes
      if (quotaBytes !== previousQuotaBytes) workspace.version++
      return { previousQuotaBytes, usage: usageOf(workspace) }
    },
  }
}
