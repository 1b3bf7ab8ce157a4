import type { WorkspaceId } from '../ids.ts'
import type { StorageUsage, Taking } from './quota-ledger.ts'
import type { MarkedRelease } from './reservations.ts'

/** The ledger of one workspace, from one read. */
export interface WorkspaceLedger extends StorageUsage {
  workspaceId: WorkspaceId
  takings: Taking[]
  releases: MarkedRelease[]
  /** Grows with every change of the counter: between two reads of the same version there was none. */
  version: number
  /** How many open reservations were undone: such attempts leave no other trace. */
  undone: number
  /** When the resolver will look at its reservations; undefined: there are none. */
  checkDueAtMs: number | undefined
}

export interface WorkspaceLedgers {
  /** @throws Error when the item cannot be read */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceLedger | undefined>
  /**
   * Claims a due workspace for one process: for others it is due again at that time, whatever happens to this one.
   * @returns the ledger after that; undefined when somebody else has claimed it, or has set when to look again
   */
  claim(
    workspaceId: WorkspaceId,
    claim: { seenMs: number; untilMs: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLedger | undefined>
  /**
   * Sets when to look at a workspace again, unless somebody else has set it since.
   * @param check.nextMs undefined: never, unless the ledger has changed since that version
   */
  reschedule(
    workspaceId: WorkspaceId,
    check: { seenMs: number } & ({ nextMs: number } | { nextMs: undefined; version: number }),
    signal: AbortSignal,
  ): Promise<void>
}
