import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Retention } from '../../../lib/ledger/expiry.ts'
import type { LedgerMaintenance } from '../../../lib/ledger/ports/ledger-maintenance.ts'
import type { MarkerId, QuotaLedger, StorageUsage, Taking } from '../../../lib/ledger/ports/quota-ledger.ts'
import type { MarkedRelease } from '../../../lib/ledger/ports/reservations.ts'
import type { WorkspaceAdministration } from '../../../lib/ledger/ports/workspace-administration.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/workspace-ledgers.ts'
import { inShard } from './table-workspaces.ts'

const LEFTOVER_MS = 10_000
const MAX_LEFTOVERS = 60
const MAX_CHANGES = 600_000
const SHARDS = [0, 1]
/** How many entries a page of a listing has. */
const PAGE = 3

interface Workspace extends Retention {
  quotaBytes: number
  remainingBytes: number
  takings: Map<string, Taking>
  releases: Map<string, MarkedRelease>
  version: number
  undos: number
  correctedIn?: number
  checkDueAtMs: number | undefined
}

export interface FakeQuotaLedger extends QuotaLedger, LedgerMaintenance, WorkspaceAdministration {
  workspaces: Map<WorkspaceId, Workspace>
}

export function createFakeQuotaLedger(options: {
  defaultQuotaBytes: number
  maxTakings?: number
  maxReleases?: number
}): FakeQuotaLedger {
  const { maxTakings = Number.POSITIVE_INFINITY, maxReleases = Number.POSITIVE_INFINITY } = options
  const workspaces: FakeQuotaLedger['workspaces'] = new Map()
  const newWorkspace = (usedBytes = 0, quotaBytes = options.defaultQuotaBytes): Workspace => ({
    quotaBytes,
    remainingBytes: quotaBytes - usedBytes,
    takings: new Map(),
    releases: new Map(),
    version: 0,
    undos: 0,
    checkDueAtMs: undefined,
  })
  const usageOf = ({ quotaBytes, remainingBytes }: Workspace): StorageUsage => ({
    quotaBytes,
    usedBytes: quotaBytes - remainingBytes,
  })
  const retentionOf = ({ expireAfterSeconds, expireAtMostSeconds }: Workspace): Retention => ({
    expireAfterSeconds,
    expireAtMostSeconds,
  })
  const toLedger = (workspaceId: WorkspaceId, workspace: Workspace): WorkspaceLedger => ({
    workspaceId,
    ...usageOf(workspace),
    ...retentionOf(workspace),
    takings: [...workspace.takings.values()],
    releases: [...workspace.releases.values()].map((release) => ({ ...release, markedIn: workspace.version })),
    version: workspace.version,
    undos: workspace.undos,
    checkDueAtMs: workspace.checkDueAtMs,
  })
  const markersOf = (workspace: Workspace | undefined, { releaseId, attemptId }: MarkerId) => {
    const markers: Map<string, Taking> | undefined = releaseId === undefined ? workspace?.takings : workspace?.releases
    const id = releaseId ?? attemptId
    return { markers, id, marker: markers?.get(id) }
  }
  /** Markers of dead processes do not count. */
  const isCrowded = (markers: Map<string, Taking>, most: number, leaseExpiresAtMs: number): boolean => {
    const leftovers = [...markers.values()].filter((marker) => marker.leaseExpiresAtMs < leaseExpiresAtMs - LEFTOVER_MS)
    return markers.size >= most + Math.min(leftovers.length, MAX_LEFTOVERS)
  }
  return {
    workspaces,
    async take(reservation) {
      const { workspaceId, attemptId, sizeBytes, leaseExpiresAtMs } = reservation
      const workspace = workspaces.get(workspaceId) ?? newWorkspace()
      workspaces.set(workspaceId, workspace)
      if (workspace.remainingBytes < sizeBytes) return { outcome: 'quota_exceeded', usage: usageOf(workspace) }
      if (isCrowded(workspace.takings, maxTakings, leaseExpiresAtMs) || workspace.takings.has(attemptId)) {
        return { outcome: 'crowded' }
      }
      workspace.remainingBytes -= sizeBytes
      workspace.takings.set(attemptId, { workspaceId, attemptId, sizeBytes, leaseExpiresAtMs })
      workspace.checkDueAtMs ??= leaseExpiresAtMs
      workspace.version++
      const { version: countedFrom } = workspace
      return { outcome: 'taken', usage: usageOf(workspace), retention: retentionOf(workspace), countedFrom }
    },
    async mark(release) {
      const workspace = workspaces.get(release.workspaceId)
      if (workspace === undefined) throw new Error(`workspace ${release.workspaceId} has no ledger`)
      const { releaseId, leaseExpiresAtMs } = release
      if (isCrowded(workspace.releases, maxReleases, leaseExpiresAtMs) || workspace.releases.has(releaseId)) {
        return 'crowded'
      }
      const marked = { ...release, markedIn: ++workspace.version }
      workspace.releases.set(releaseId, marked)
      workspace.checkDueAtMs ??= leaseExpiresAtMs
      return marked
    },
    async schedule({ workspaceId, leaseExpiresAtMs }) {
      const workspace = workspaces.get(workspaceId)
      if (workspace === undefined) throw new Error(`workspace ${workspaceId} has no ledger`)
      workspace.checkDueAtMs ??= leaseExpiresAtMs
      workspace.version++
    },
    async unmark(markerId) {
      const workspace = workspaces.get(markerId.workspaceId)
      const { markers, id } = markersOf(workspace, markerId)
      if (workspace && markers?.delete(id)) workspace.version++
    },
    async giveBack(markerId) {
      const workspace = workspaces.get(markerId.workspaceId)
      const { markers, id, marker } = markersOf(workspace, markerId)
      if (!workspace || !markers || !marker) return undefined
      workspace.remainingBytes += marker.sizeBytes
      workspace.version++
      markers.delete(id)
      if (markerId.cause === 'undo') workspace.undos++
      return usageOf(workspace)
    },
    async usage(workspaceId) {
      const workspace = workspaces.get(workspaceId)
      return workspace && { ...usageOf(workspace), ...retentionOf(workspace) }
    },
    async *list(_signal, shard) {
      yield* inShard(workspaces.keys(), shard)
    },
    async *readAll() {
      for (const [workspaceId, workspace] of workspaces) yield toLedger(workspaceId, workspace)
    },
    dueShards: SHARDS,
    async *listDue({ shard, nowMs }) {
      const due = [...workspaces]
        .flatMap(([workspaceId, { checkDueAtMs }]) =>
          checkDueAtMs !== undefined && checkDueAtMs <= nowMs ? { workspaceId, checkDueAtMs } : [],
        )
        .filter(({ workspaceId }) => workspaceId.length % SHARDS.length === shard)
        .sort((one, other) => one.checkDueAtMs - other.checkDueAtMs)
      for (let first = 0; first < due.length; first += PAGE) yield due.slice(first, first + PAGE)
    },
    async read(workspaceId) {
      const workspace = workspaces.get(workspaceId)
      return workspace && toLedger(workspaceId, workspace)
    },
    async lease(workspaceId, { seenDueAtMs, untilMs }) {
      const workspace = workspaces.get(workspaceId)
      if (workspace?.checkDueAtMs !== seenDueAtMs) return undefined
      workspace.checkDueAtMs = untilMs
      return toLedger(workspaceId, workspace)
    },
    async reschedule(workspaceId, check) {
      const workspace = workspaces.get(workspaceId)
      if (workspace?.checkDueAtMs !== check.seenDueAtMs) return
      if (check.nextMs === undefined && workspace.version !== check.version) return
      workspace.checkDueAtMs = check.nextMs
    },
    async correct(workspaceId, { usedBytes, expectedBytes, at }) {
      const workspace = workspaces.get(workspaceId)
      if (!workspace || !at) {
        if (workspace || at) return false
        workspaces.set(workspaceId, newWorkspace(expectedBytes))
        return true
      }
      if ((workspace.correctedIn ?? Number.NEGATIVE_INFINITY) >= at.version) return true
      if (workspace.version < at.version || workspace.version > at.lastVersion + MAX_CHANGES) return false
      workspace.remainingBytes += usedBytes - expectedBytes
      workspace.correctedIn = workspace.version++
      return true
    },
    async create(workspaceId, quotaBytes) {
      const existing = workspaces.get(workspaceId)
      const workspace = existing ?? newWorkspace(0, quotaBytes)
      workspaces.set(workspaceId, workspace)
      return { isNew: existing === undefined, usage: usageOf(workspace) }
    },
    async setRetention(workspaceId, { shown, to: { expireAfterSeconds, expireAtMostSeconds } }) {
      const workspace = workspaces.get(workspaceId)
      if (!workspace) return undefined
      if (workspace.expireAfterSeconds !== shown.expireAfterSeconds) return 'changed'
      if (workspace.expireAtMostSeconds !== shown.expireAtMostSeconds) return 'changed'
      Object.assign(workspace, { expireAfterSeconds, expireAtMostSeconds, version: workspace.version + 1 })
      return 'set'
    },
    async setQuota(workspaceId, { shownBytes, toBytes }) {
      const workspace = workspaces.get(workspaceId)
      if (!workspace) return undefined
      if (workspace.quotaBytes === shownBytes) {
        workspace.remainingBytes += toBytes - shownBytes
        workspace.quotaBytes = toBytes
        workspace.version++
      }
      return workspace.quotaBytes === toBytes ? usageOf(workspace) : 'changed'
    },
  }
}
