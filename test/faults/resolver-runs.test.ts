import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkShardOf } from '../../lib/aws/workspace-item.ts'
import { resolveExpiredReservations } from '../../lib/maintenance/resolve-expired-reservations.ts'
import type { ProcessFault } from '../support/faults/breakable-transport.ts'
import { faultsFor } from '../support/faults/fault-kinds.ts'
import { startTestProcess, type TestProcess } from '../support/faults/test-process.ts'
import { createTestStores } from '../support/faults/test-stores.ts'
import type { TestWorkspace } from '../support/faults/workspaces.ts'
import { patternBytes } from '../support/stores/pattern-bytes.ts'

const LEASE_MS = 2 * 3_600_000
/** The life of a run. */
const RUN_MS = 55_000
const BYTES = Buffer.from('small')
/** Copied in parts. */
const LARGE = patternBytes(10 * 1024 * 1024 + 1)
/** Calls that belong to a run alone; those between them are in the fault matrix. */
const CALLS_OF_RUNS = new Set([
  'ledger.listDue',
  'ledger.claim',
  'ledger.reschedule',
  'ledger.read',
  'reservations.list',
])

let one: TestProcess
let other: TestProcess
beforeAll(async () => {
  const stores = await createTestStores()
  ;[one, other] = await Promise.all([startTestProcess(stores), startTestProcess(stores)])
})
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()])
})

/** A workspace in which a promotion died after this call, with its lease over. @param offsetMs of the clock from now on */
async function dead(call: string, offsetMs = LEASE_MS, bytes: Buffer = BYTES): Promise<TestWorkspace> {
  const workspace = await one.newWorkspace(10 ** 9)
  await one.putFile(workspace, 'a.txt', bytes)
  one.setClock(offsetMs - LEASE_MS)
  one.breakCalls(({ name }) => (name === call ? { kind: 'kill_after' } : undefined))
  await Promise.race([one.promote(workspace, 'a.txt').catch(() => {}), one.died()])
  one.restart()
  setClocks(offsetMs)
  return workspace
}

function setClocks(offsetMs: number): void {
  for (const process of [one, other]) {
    process.setClock(offsetMs)
    process.takeCalls()
  }
}

/** A run of the resolver. @param workspace whose shard alone it looks at; omitted: all */
function run(
  process: TestProcess,
  { workspace, timeoutMs = 60_000 }: { workspace?: TestWorkspace; timeoutMs?: number } = {},
) {
  const endsAtMs = process.deps.now() + RUN_MS
  const shards = workspace ? [Number(checkShardOf(workspace.workspaceId))] : process.deps.ledgers.shards
  const bounds = { maxResolutions: 100, timeoutEachMs: 30_000, endsAtMs, shards }
  return resolveExpiredReservations(bounds, process.deps, AbortSignal.timeout(timeoutMs))
}

const stateOf = (workspace: TestWorkspace) => one.stateOf(workspace)
const NOTHING = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }
const ONE_DOCUMENT = { ...NOTHING, documents: 1, objects: 1, usedBytes: BYTES.length }
const DEATHS = [
  ['ledger.take', NOTHING],
  ['CopyObject', NOTHING],
  ['documents.record', ONE_DOCUMENT],
] as const

/** So that each run starts with leases that are over and claims that are, and with no watch that is due. */
let hours = 2
const later = () => ++hours * LEASE_MS

async function expectHealed(workspace: TestWorkspace, healed: object, offsetMs: number): Promise<void> {
  await one.deliverLate()
  // Its claim is over; then the leases of releases that the run before had begun; then watches; then there is nothing.
  for (const laterMs of [RUN_MS, 200_000, 1_200_000, 1_400_000]) {
    setClocks(offsetMs + laterMs)
    expect(await run(other, { workspace })).toMatchObject({ failed: 0, unreadable: 0, unlisted: 0, isComplete: true })
  }
  expect(await stateOf(workspace)).toEqual(healed)
  const ledger = await other.deps.ledgers.read(workspace.workspaceId, AbortSignal.timeout(60_000))
  expect(ledger?.checkDueAtMs).toBeUndefined()
}

describe('a run of the resolver', () => {
  it('aborts the upload of a large file whose promotion died', async () => {
    const offsetMs = later()
    const workspace = await dead('UploadPartCopy', offsetMs, LARGE)
    expect(await stateOf(workspace)).toMatchObject({ unfinishedUploads: 1, usedBytes: LARGE.length })
    expect(await one.resolveWorkspace(workspace.workspaceId)).toMatchObject({ failed: 0, isComplete: true })
    // And its watch goes, so that no run that is counted here finds it in its shard.
    await expectHealed(workspace, NOTHING, offsetMs)
  })

  it.each(DEATHS)(
    'that is killed at any of its calls, where a promotion had died after %s, is made up for by the next',
    { timeout: 120_000 },
    async (call, healed) => {
      const first = later()
      const workspace = await dead(call, first)
      await run(one, { workspace })
      const calls = one.takeCallNames()
      expect(calls).toEqual(expect.arrayContaining(['ledger.listDue', 'ledger.claim', 'ledger.reschedule']))
      await expectHealed(workspace, healed, first)
      // Before its first call, and after each.
      for (let count = 0; count <= calls.length; count++) {
        const offsetMs = later()
        const killed = await dead(call, offsetMs)
        let made = 0
        one.breakCalls(() =>
          ++made > count ? { kind: 'kill_before' } : made === count ? { kind: 'kill_after' } : undefined,
        )
        await Promise.race([run(one, { workspace: killed }).catch(() => {}), one.died()])
        one.restart()
        try {
          await expectHealed(killed, healed, offsetMs)
        } catch (error) {
          throw new Error(`killed after ${count} calls, ${calls[count - 1]} the last of them`, { cause: error })
        }
      }
    },
  )

  it('bears every fault at the calls that only a run makes', { timeout: 120_000 }, async () => {
    for (const call of CALLS_OF_RUNS) {
      for (const [what, fault] of faultsFor(call)) {
        if (what.startsWith('killed')) continue
        const offsetMs = later()
        const workspace = await dead('CopyObject', offsetMs)
        let isDone = false
        one.breakCalls(({ name }): ProcessFault | undefined => {
          if (isDone || name !== call) return undefined
          isDone = true
          return fault
        })
        await run(one, { workspace })
        one.restart()
        try {
          expect(isDone).toBe(true)
          await expectHealed(workspace, NOTHING, offsetMs)
        } catch (error) {
          throw new Error(`${call} ${what}`, { cause: error })
        }
      }
    }
  })
})

describe('two runs at once', () => {
  it('do each workspace once, and all of them', async () => {
    const offsetMs = later()
    const workspaces: TestWorkspace[] = []
    for (let count = 0; count < 12; count++) workspaces.push(await dead('CopyObject', offsetMs))
    const reports = await Promise.all([run(one), run(other)])
    expect(reports.reduce((sum, { released }) => sum + released, 0)).toBe(12)
    for (const report of reports) expect(report).toMatchObject({ failed: 0, isComplete: true })
    const releases = [...one.takeCallNames(), ...other.takeCallNames()].filter((name) => name === 'ledger.release')
    expect(releases).toHaveLength(12)
    for (const workspace of workspaces) expect(await stateOf(workspace)).toEqual(NOTHING)
  })
})

describe('a poisoned item', () => {
  it('is reported and passed by, and put off', async () => {
    const offsetMs = later()
    const poisoned = await dead('CopyObject', offsetMs)
    const others = [await dead('CopyObject', offsetMs), await dead('ledger.take', offsetMs)]
    one.breakCalls(({ name, body }) =>
      name === 'documents.fence' && body.includes(poisoned.workspaceId)
        ? {
            kind: 'answer',
            status: 400,
            body: JSON.stringify({ __type: 'x#ValidationException', message: 'poisoned' }),
          }
        : undefined,
    )
    expect(await run(one)).toMatchObject({ released: 2, failed: 1, isComplete: true })
    for (const workspace of others) expect(await stateOf(workspace)).toEqual(NOTHING)
    expect(await stateOf(poisoned)).toMatchObject({ usedBytes: BYTES.length })
    const due = (await one.deps.ledgers.read(poisoned.workspaceId, AbortSignal.timeout(60_000)))?.checkDueAtMs ?? 0
    expect(due - one.deps.now()).toBeGreaterThan(9 * 60_000)
    one.restart()
    await expectHealed(poisoned, NOTHING, offsetMs + 10 * 60_000)
  })
})
