import { expect, it } from 'vitest'
import { eraseDueWorkspaces } from '../../../lib/administration/erase-due-workspaces.ts'
import type { ErasedObjects } from '../../../lib/administration/ports/erasures.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { createPorts } from '../../support/ports.ts'

const WORKSPACES = ['a', 'b', 'c', 'd', 'e'].map((name) => `ws_${name}` as WorkspaceId)

/** Five workspaces whose erasures are due. @param erase what S3 does with each */
async function prepare(erase: ErasedObjects['erase']) {
  const { clock, deps, logged } = createPorts()
  const { signal } = new AbortController()
  for (const [index, workspaceId] of WORKSPACES.entries()) {
    await deps.workspaces.create(workspaceId, { quotaBytes: 1000 }, signal)
    const beginsAtMs = clock.nowMs - 9 + index
    const to = { state: 'scheduled' as const, requestedAtMs: 1, beginsAtMs, dueAtMs: beginsAtMs }
    await deps.erasures.change(workspaceId, { shown: undefined, to }, signal)
  }
  const own = { ...deps, apiKeys: deps.keyAdministration, erasedObjects: { erase } }
  const states = async () =>
    Promise.all(WORKSPACES.map(async (id) => (await deps.ledger.read(id, signal))?.erasure?.state))
  return { clock, logged, states, run: (by = signal) => eraseDueWorkspaces(own, by) }
}

it('one that fails and one that S3 refuses keep no other: both are told, and tried again when they are due', async () => {
  const { clock, logged, states, run } = await prepare(async ({ workspaceId }) => {
    if (workspaceId === 'ws_a') throw new ServiceError('service_unavailable')
    return workspaceId === 'ws_b' ? { erased: 0, refused: 1, reason: 'locked' } : { erased: 0, refused: 0 }
  })
  expect(await run()).toEqual({ advanced: 3, failed: 2 })
  expect(await states()).toEqual(['erasing', 'erasing', 'verifying', 'verifying', 'verifying'])
  const line = { level: 'error', message: 'erasure left to a later run', workspace_id: 'ws_a' }
  expect(logged).toContainEqual(expect.objectContaining(line))
  const told = { message: 'erasure went on', workspace_id: 'ws_b', state: 'erasing', refused: 2, reason: 'locked' }
  expect(logged).toContainEqual(expect.objectContaining(told))
  expect(await run()).toEqual({ advanced: 0, failed: 0 })
  clock.nowMs += 3_600_000
  expect(await run()).toEqual({ advanced: 3, failed: 2 })
})

it('works on three at once; what has no time, and what takes for more than a day, counts as failed', async () => {
  const ending = new AbortController()
  let [atWork, most, isQuiet] = [0, 0, false]
  const { clock, states, run } = await prepare(async (_, signal) => {
    if (isQuiet) return { erased: 1, refused: 0 }
    most = Math.max(most, ++atWork)
    if (atWork === 3) ending.abort()
    await new Promise((resolve) => (signal.aborted ? resolve(0) : signal.addEventListener('abort', resolve)))
    throw new ServiceError('request_timed_out')
  })
  expect(await run(ending.signal)).toEqual({ advanced: 0, failed: 5 })
  expect([most, await states()]).toEqual([3, ['erasing', 'erasing', 'erasing', 'scheduled', 'scheduled']])
  isQuiet = true
  clock.nowMs += 86_399_000
  expect(await run()).toEqual({ advanced: 5, failed: 0 })
  clock.nowMs += 1_200_000
  expect(await run()).toEqual({ advanced: 0, failed: 5 })
})
