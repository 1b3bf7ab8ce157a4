import { expect } from 'vitest'
import type { LedgerMaintenance } from '../../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger } from '../../../lib/ledger/ports/quota-ledger.ts'
import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { newAttempt } from './ledger-values.ts'
import { useLedger } from './use-ledger.ts'

/** No other suite's workspaces are due so early. */
export const DUE_MS = 1_000_000

/** A ledger and a workspace, new for each test, which is due at {@link DUE_MS} from the first taking on. */
export function useDueWorkspace(make: () => QuotaLedger & LedgerMaintenance) {
  const of = useLedger(make)
  const reservation = (change: Partial<Attempt> = {}) =>
    newAttempt({ workspaceId: of.workspaceId, leaseExpiresAtMs: DUE_MS, ...change })

  return {
    get ledger() {
      return of.ledger
    },
    get workspaceId() {
      return of.workspaceId
    },
    reservation,
    async take(change: Partial<Attempt> = {}) {
      const one = reservation(change)
      expect((await of.take(one)).outcome).toBe('taken')
      return one
    },
    async read() {
      const found = await of.read()
      if (!found) throw new Error(`${of.workspaceId} has no ledger`)
      return found
    },
  }
}

export type DueWorkspaceOfTest = ReturnType<typeof useDueWorkspace>
