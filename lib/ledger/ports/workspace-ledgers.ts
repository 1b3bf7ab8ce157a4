import type { WorkspaceId } from '../../ids.ts'
import type { Retention } from '../expiry.ts'
import type { StorageUsage, Taking } from './quota-ledger.ts'
import type { MarkedRelease } from './reservations.ts'

/** The ledger of one workspace, from one read. */
export interface WorkspaceLedger extends StorageUsage, Retention {
  workspaceId: WorkspaceId
  takings: Taking[]
  releases: MarkedRelease[]
  /** Grows with every write, except `lease` and `reschedule`. */
  version: number
  /** How many attempts that had reserved were undone: they leave no other trace. */
  undos: number
  /** When the workspace is due; undefined: never. */
  checkDueAtMs: number | undefined
}

export interface WorkspaceLedgers {
  /** @throws Error when the item cannot be read */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /**
   * Leases a due workspace to one process: for others it is due again when the lease ends, whatever happens to this one.
   * @returns the ledger after that; undefined when somebody else has leased it, or has set its next check
   */
  lease(
    workspaceId: WorkspaceId,
    lease: { seenDueAtMs: number; untilMs: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | undefined>
  /**
   * Sets the next check of a workspace, unless somebody else has set it since.
   * @param check.nextMs undefined: never, unless the ledger has changed since that version
   */
  reschedule(
    workspaceId: WorkspaceId,
    check: { seenDueAtMs: number } & ({ nextMs: number } | { nextMs: undefined; version: number }),
    signal: AbortSignal,
  ): Promise<void>
}
