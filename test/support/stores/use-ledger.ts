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
  const on = {} as { ledger: L; workspaceId: WorkspaceId }
  beforeEach(() => void Object.assign(on, { ledger: make(), workspaceId: newWorkspaceId() }))

  const reservation = (sizeBytes: number, change: Partial<Attempt> = {}) =>
    newAttempt({ workspaceId: on.workspaceId, sizeBytes, ...change })
  const take = (one: Attempt) => on.ledger.take(one, signal)
  const usage = () => on.ledger.usage(on.workspaceId, signal)
  const read = () => on.ledger.read(on.workspaceId, signal)

  /** Bytes that are counted, without a marker. */
  const count = async (sizeBytes: number) => {
    const one = reservation(sizeBytes)
    await take(one)
    await on.ledger.unmark(one, signal)
    return one
  }
  const mark = async (of: Attempt, cause: Release['cause'] = 'undo') => {
    const release = newRelease(of, cause)
    const marked = await on.ledger.mark(release, signal)
    if (marked === 'crowded') throw new Error('not marked')
    expect(marked).toEqual({ ...release, markedIn: (await read())?.version })
    return marked
  }

  return Object.assign(on, { reservation, take, usage, read, count, mark })
}

export type LedgerOfTest = ReturnType<typeof useLedger<Ledger>>
