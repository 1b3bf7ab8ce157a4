import type { Erasures } from '../../../lib/administration/ports/erasures.ts'
import type { LedgerMaintenance } from '../../../lib/ledger/ports/ledger-maintenance.ts'

/** @property workspaces of the former table @property erasures of the restored one */
interface BothTables {
  workspaces: Pick<LedgerMaintenance, 'readAll'>
  erasures: Pick<Erasures, 'change'>
  now(): number
}

/**
 * Closes workspaces that were closed in the former table, so that what came back of them is erased, too; not before the
 * time that was asked for. May be repeated.
 * @returns how many it has closed, and of which it could not tell
 */
export async function carryOverErasures({ workspaces, erasures, now }: BothTables, signal: AbortSignal) {
  const unreadable: { id: string; error: unknown }[] = []
  let carried = 0
  for await (const former of workspaces.readAll(signal)) {
    if ('error' in former) unreadable.push(former)
    if ('error' in former || former.erasure === undefined) continue
    const { requestedAtMs, beginsAtMs } = former.erasure
    const dueAtMs = Math.max(now(), beginsAtMs)
    const to = { state: 'scheduled', requestedAtMs, beginsAtMs: dueAtMs, dueAtMs } as const
    if (await erasures.change(former.workspaceId, { shown: undefined, to }, signal)) carried++
  }
  return { carried, unreadable }
}
