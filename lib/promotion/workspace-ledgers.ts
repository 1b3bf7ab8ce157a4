import type { WorkspaceId } from '../ids.ts'
import type { StorageUsage, Taking } from './quota-ledger.ts'
import type { Release } from './reservations.ts'

/** The ledger of one workspace, read at once. */
export interface WorkspaceLedger extends StorageUsage {
  workspaceId: WorkspaceId
  takings: Taking[]
  releases: Release[]
  /** Grows with every change: two reads with the same version had nothing happen in between. */
  version: number
  /** Grows with every open reservation that is undone: such an attempt leaves nothing else behind. */
  undone: number
  /** When the resolver is to look at its reservations; undefined: there are none. */
  checkDueAtMs: number | undefined
}

/** The ledgers of single workspaces, for whoever resolves what dead processes left in them. */
export interface WorkspaceLedgers {
  /** @throws Error when the item cannot be read */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /**
   * Claims a workspace that is due, for one process alone: for the others it is due again at that time, whatever becomes of
   * this one.
   * @returns the ledger as it is then; undefined when somebody else has claimed it, or set when to look again
   */
  claim(
    workspaceId: WorkspaceId,
    claim: { seenMs: number; untilMs: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | undefined>
  /**
   * Sets when to look at a workspace again, unless somebody else has set it since.
   * @param check.next undefined: no more, unless the ledger has changed since that version
   */
  reschedule(
    workspaceId: WorkspaceId,
    check: { seenMs: number } & ({ nextMs: number } | { nextMs: undefined; version: number }),
    signal: AbortSignal,
  ): Promise<void>
}
