import type { Erasures } from '../../../lib/administration/ports/erasures.ts'
import type { Ledger } from '../../../lib/ledger/ports/ledger.ts'
import type { LedgerMaintenance } from '../../../lib/ledger/ports/ledger-maintenance.ts'

interface BothTables {
  former: Pick<LedgerMaintenance, 'readAll'>
  restored: Pick<Ledger, 'read'> & Pick<LedgerMaintenance, 'create'> & Pick<Erasures, 'change'>
  now(): number
}

/**
 * Closes and opens workspaces as they are in the former table, so that what came back of those that are closed there is
 * erased, too. May be repeated. @returns how many it has closed and opened, and of which it could not tell
 */
export async function carryOverErasures({ former, restored, now }: BothTables, signal: AbortSignal) {
  const unreadable: { id: string; error: unknown }[] = []
  let [closed, opened] = [0, 0]
  for await (const ledger of former.readAll(signal)) {
    if ('error' in ledger) {
      unreadable.push(ledger)
      continue
    }
    const { workspaceId, quotaBytes, erasure } = ledger
    const found = await restored.read(workspaceId, signal)
    if (erasure === undefined) {
      const shown = found?.erasure
      if (shown && (await restored.change(workspaceId, { shown, to: undefined }, signal))) opened++
      continue
    }
    // It was made since: its keys would make it anew.
    if (found === undefined) await restored.create(workspaceId, { quotaBytes }, signal)
    const { requestedAtMs, beginsAtMs } = erasure
    const dueAtMs = Math.max(now(), beginsAtMs)
    const to = { state: 'scheduled', requestedAtMs, beginsAtMs: dueAtMs, dueAtMs } as const
    if (await restored.change(workspaceId, { shown: undefined, to }, signal)) closed++
  }
  return { closed, opened, unreadable }
}
