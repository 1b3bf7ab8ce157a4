import type { ListOrder } from '../../../lib/documents/document-listing.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Fate } from './process.ts'

export type Action =
  | { do: 'promote'; workspace: number; file: number; key: number | undefined }
  /** A deletion of any document there ever was, by a caller or by the administration. */
  | { do: 'delete'; document: number; byApi: boolean }
  /** @param lags how far behind the index's entries are, in moments */
  | { do: 'list'; workspace: number; order: ListOrder; limit: number; lags: number[] }
  | { do: 'download'; document: number }
  /** @param aheadMs by how much the process's clock is wrong: leases that seem to be over may not be */
  | { do: 'resolve'; aheadMs: number }
  | { do: 'audit'; aheadMs: number }
  /** Somebody changes the used bytes behind the service's back. */
  | { do: 'drift'; workspace: number; bytes: number }
  | { do: 'step'; process: number; fate: Fate }
  | { do: 'kill'; process: number }
  | { do: 'overwrite'; workspace: number; file: number; sizeBytes: number }
  | { do: 'quota'; workspace: number; quotaBytes: number }
  | { do: 'wait'; durationMs: number }
  | { do: 'deliver' }

export const WORKSPACES = 2
export const FILES = 3

export const workspaceOf = (index: number) => `ws_${index % WORKSPACES}` as WorkspaceId
