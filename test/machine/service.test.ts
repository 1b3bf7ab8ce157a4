import { expect, it, vi } from 'vitest'
import { useService } from '../support/machine/services.ts'
import { storesOf } from '../support/machine/storm.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'

const HOUR_MS = 3_600_000
/** Never reached, however busy the machine. */
const signal = AbortSignal.timeout(600_000)
const PATIENCE = { timeout: 120_000, interval: 100 }
const service = useService(() => ({ everyMs: 500 }))

it('the schedule of the resolver has what a process left behind undone: its bytes are free again', async () => {
  const { documents, ledger } = await storesOf(service().directory)
  const attempt = newAttempt({ workspaceId: service().newWorkspaceId(), leaseEndsAtMs: Date.now() - HOUR_MS })
  await documents.begin(pendingOf(attempt), undefined, signal)
  await ledger.hold(attempt, signal, 0)
  const read = () => ledger.read(attempt.workspaceId, signal)
  expect(await read()).toMatchObject({ usedBytes: attempt.sizeBytes })
  await vi.waitFor(async () => expect(await read()).toMatchObject({ usedBytes: 0, holds: [] }), PATIENCE)
})
