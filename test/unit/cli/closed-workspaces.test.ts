import { expect, it } from 'vitest'
import { runCheck } from '../../../infra/cli/doctor/check.ts'
import { erasuresCheck } from '../../../infra/cli/doctor/erasures.ts'
import { carryOverErasures } from '../../../infra/cli/restore/carry-over-erasures.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Erasure } from '../../../lib/ledger/ports/ledger.ts'
import { WORKSPACES_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, NOW_MS, type Ports, signal } from '../../support/ports.ts'

const HOUR_MS = 3_600_000
const ERASING: Erasure = {
  state: 'erasing',
  requestedAtMs: 1,
  beginsAtMs: NOW_MS - HOUR_MS,
  usedBytes: 5,
  documents: 1,
}
const ERASED: Erasure = { ...ERASING, state: 'erased', endedAtMs: 3, verifiedAtMs: 4 }

/** @param erasure undefined: it is open */
async function add({ deps }: Ports, id: string, erasure?: Erasure) {
  await deps.workspaces.create(id as WorkspaceId, { quotaBytes: 1000 }, signal)
  if (erasure) await deps.erasures.change(id as WorkspaceId, { shown: undefined, to: erasure }, signal)
}

it('doctor: erasures go on; it names those that nobody works on, and what S3 refuses', async () => {
  const ports = createPorts()
  const check = async () => {
    const erasures = erasuresCheck(async () => ports.deps as never)
    const { verdict, detail } = await runCheck(erasures, 1000, signal)
    return [verdict, detail]
  }
  await add(ports, 'ws_open')
  await add(ports, 'ws_erased', ERASED)
  expect(await check()).toEqual(['ok', 'none'])
  await add(ports, 'ws_later', { ...ERASING, state: 'scheduled', dueAtMs: NOW_MS + 24 * HOUR_MS })
  await add(ports, 'ws_due', { ...ERASING, dueAtMs: NOW_MS - HOUR_MS })
  expect(await check()).toEqual(['ok', '2 go on'])
  await add(ports, 'ws_locked', { ...ERASING, refused: 2, reason: 'AccessDenied', dueAtMs: NOW_MS + HOUR_MS })
  await add(ports, 'ws_long', { ...ERASING, beginsAtMs: NOW_MS - 24 * HOUR_MS, dueAtMs: NOW_MS + HOUR_MS })
  ports.pass(1)
  expect(await check()).toEqual([
    'problem',
    'ws_due: due since 2026-11-21T08:38:35Z, and nobody works on it; ws_locked: erasing; S3 refuses to delete 2 objects (AccessDenied); ws_long: erasing since 2026-11-20T09:38:35Z (docs/runbook.md, "Erasures late")',
  ])
})

it('restore tables: what came back of workspaces that were closed since is erased again, at its time; one that was opened since stays', async () => {
  const [former, restored] = [createPorts(), createPorts()]
  const later = NOW_MS + HOUR_MS
  const scheduled: Erasure = { state: 'scheduled', requestedAtMs: 1, beginsAtMs: later, dueAtMs: later }
  const closedSince = { ws_erased: ERASED, ws_later: scheduled, ws_both: ERASED, ws_new: ERASED }
  for (const [id, erasure] of Object.entries(closedSince)) await add(former, id, erasure)
  await add(former, 'ws_open')
  await former.stored.put(WORKSPACES_TABLE, { workspace_id: 'ws_damaged' })
  for (const id of ['ws_erased', 'ws_later', 'ws_open', 'ws_damaged']) await add(restored, id)
  await add(restored, 'ws_both', ERASED)
  await add(former, 'ws_opened')
  await add(restored, 'ws_opened', scheduled)
  const { ledger, workspaces, erasures, now } = restored.deps
  const own = { read: ledger.read, create: workspaces.create, change: erasures.change }
  const both = { former: former.deps.workspaces, restored: own, now }
  const carryOver = async () => {
    const { closed, opened, unreadable } = await carryOverErasures(both, signal)
    return [closed, opened, unreadable.map(({ id }) => id)]
  }
  expect([await carryOver(), await carryOver()]).toEqual([
    [3, 1, ['ws_damaged']],
    [0, 0, ['ws_damaged']],
  ])
  const ledgers = restored.stored.ledgers().map(({ workspaceId, erasure }) => [workspaceId, erasure])
  expect(Object.fromEntries(ledgers)).toEqual({
    ws_open: undefined,
    ws_opened: undefined,
    // Its keys would make it anew.
    ws_new: { state: 'scheduled', requestedAtMs: 1, beginsAtMs: NOW_MS, dueAtMs: NOW_MS },
    ws_damaged: undefined,
    ws_both: ERASED,
    ws_later: scheduled,
    ws_erased: { state: 'scheduled', requestedAtMs: 1, beginsAtMs: NOW_MS, dueAtMs: NOW_MS },
  })
  expect(await Array.fromAsync(restored.deps.erasures.listDue(NOW_MS, signal))).toHaveLength(2)
})
