import { beforeEach, expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { LedgerMaintenance } from '../../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger } from '../../../lib/ledger/ports/quota-ledger.ts'
import type { Attempt, Release } from '../../../lib/ledger/ports/reservations.ts'
import { newAttempt, newRelease, newWorkspaceId } from './ledger-values.ts'

const { signal } = new AbortController()

type Ledger = QuotaLedger & LedgerMaintenance

/** A ledger and a workspace that it has never seen, new for each test, and what the contracts do with them. */
export function useLedger<L extends Ledger>(make: () => L) {
  let ledger: L
  let workspaceId: WorkspaceId
  beforeEach(() => {
    ledger = make()
    workspaceId = newWorkspaceId()
  })

  const reservation = (sizeBytes: number, change: Partial<Attempt> = {}) =>
    newAttempt({ workspaceId, sizeBytes, ...change })
  const take = (one: Attempt) => ledger.take(one, signal)
  const usage = () => ledger.usage(workspaceId, signal)
  const read = () => ledger.read(workspaceId, signal)

  /** Bytes that are counted, without a marker. */
  const count = async (sizeBytes: number) => {
    const one = reservation(sizeBytes)
    await take(one)
    await ledger.unmark(one, signal)
    return one
  }
  const mark = async (of: Attempt, purpose: Release['purpose'] = 'undo') => {
    const release = newRelease(of, purpose)
    const marked = await ledger.mark(release, signal)
    if (marked === 'crowded') throw new Error('not marked')
    expect(marked).toEqual({ ...release, markedIn: (await read())?.version })
    return marked
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
    usage,
    read,
    count,
    mark,
  }
}

export type LedgerOfTest = ReturnType<typeof useLedger<Ledger>>
