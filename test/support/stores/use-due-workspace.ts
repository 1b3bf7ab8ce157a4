import { beforeEach, expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { LedgerMaintenance } from '../../../lib/maintenance/ledger-maintenance.ts'
import type { QuotaLedger } from '../../../lib/promotion/quota-ledger.ts'
import type { Reservation } from '../../../lib/promotion/reservations.ts'
import { newReservation, newWorkspaceId } from './ledger-values.ts'

const { signal } = new AbortController()
/** No other suite's workspaces are due so early. */
export const DUE_MS = 1_000_000

/** A ledger and a workspace, new for each test, which is due at {@link DUE_MS} from the first taking on. */
export function useDueWorkspace(make: () => QuotaLedger & LedgerMaintenance) {
  let ledger: QuotaLedger & LedgerMaintenance
  let workspaceId: WorkspaceId
  beforeEach(() => {
    ledger = make()
    workspaceId = newWorkspaceId()
  })

  const reservation = (change: Partial<Reservation> = {}) =>
    newReservation({ workspaceId, leaseExpiresAtMs: DUE_MS, ...change })
  const take = async (change: Partial<Reservation> = {}) => {
    const one = reservation(change)
    expect((await ledger.take(one, signal)).outcome).toBe('taken')
    return one
  }
  const read = async () => {
    const found = await ledger.read(workspaceId, signal)
    if (!found) throw new Error(`${workspaceId} has no ledger`)
    return found
  }

  return {
    get ledger() {
      return ledger
    },
    get workspaceId() {
      return workspaceId
    },
    reservation,
    take,
    read,
  }
}

export type DueWorkspaceOfTest = ReturnType<typeof useDueWorkspace>
