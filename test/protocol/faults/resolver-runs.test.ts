import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import { resolveDueWorkspaces } from '../../../lib/ledger/resolve-due-workspaces.ts'
import type { ProcessFault } from '../../support/protocol/breakable-transport.ts'
import { faultsFor } from '../../support/protocol/fault-kinds.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'
import { patternBytes } from '../../support/stores/pattern-bytes.ts'

const LEASE_MS = 2 * 3_600_000
/** The life of a run. */
const RUN_MS = 55_000
const BYTES = Buffer.from('small')
/** Copied in parts. */
const LARGE = patternBytes(10 * 1024 * 1024 + 1)
/** Those between them, which resolve a workspace, are in the fault matrix. */
const CALLS_OF_RUNS = ['ledger.listDue', 'ledger.lease', 'ledger.reschedule']

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
async function dead(call: string, offsetMs: number, bytes: Buffer = BYTES): Promise<TestWorkspace> {
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
function run(process: TestProcess, workspace?: TestWorkspace) {
  const endsAtMs = process.deps.now() + RUN_MS
  const shards = workspace ? [Number(checkShardOf(workspace.workspaceId))] : process.deps.workspaces.dueShards
  const bounds = { maxResolutions: 100, timeoutEachMs: 30_000, endsAtMs, shards }
  return resolveDueWorkspaces(bounds, process.deps, AbortSignal.timeout(60_000))
}

const stateOf = (workspace: TestWorkspace) => one.stateOf(workspace)
const NOTHING = { documents: 0, objects: 0, unfinishedUploads: 0, usedBytes: 0, reservations: 0 }
/** So that each run starts with leases that are over, those of earlier runs too, and with no note that is due. */
let hours = 2
const later = () => ++hours * LEASE_MS

async function expectHealed(workspace: TestWorkspace, offsetMs: number): Promise<void> {
  await one.deliverLate()
  // The lease of the run is over; then those of releases that it had begun; then those of notes; then there is nothing.
  for (const laterMs of [RUN_MS, 200_000, 1_200_000, 1_400_000]) {
    setClocks(offsetMs + laterMs)
    expect(await run(other, workspace)).toMatchObject({ failed: 0, unreadable: 0, unlisted: 0, isComplete: true })
  }
  expect(await stateOf(workspace)).toEqual(NOTHING)
  const ledger = await other.deps.workspaces.read(workspace.workspaceId, AbortSignal.timeout(60_000))
  expect(ledger?.checkDueAtMs).toBeUndefined()
}

describe('a run of the resolver', () => {
  it('aborts the upload of a large file whose promotion died', async () => {
    const offsetMs = later()
    const workspace = await dead('UploadPartCopy', offsetMs, LARGE)
    expect(await stateOf(workspace)).toMatchObject({ unfinishedUploads: 1, usedBytes: LARGE.length })
    // As the function of that name, whose rights the policies' test compares.
    expect(await one.resolveWorkspace(workspace.workspaceId)).toMatchObject({ failed: 0, isComplete: true })
    await expectHealed(workspace, offsetMs)
  })

  it('bears every fault at the calls that only a run makes', { timeout: 120_000 }, async () => {
    for (const call of CALLS_OF_RUNS) {
      for (const [what, fault] of faultsFor(call)) {
        const offsetMs = later()
        const workspace = await dead('CopyObject', offsetMs)
        let isDone = false
        one.breakCalls(({ name }): ProcessFault | undefined => {
          if (isDone || name !== call) return undefined
          isDone = true
          return fault
        })
        await Promise.race([run(one, workspace), one.died()])
        one.restart()
        try {
          expect(isDone).toBe(true)
          await expectHealed(workspace, offsetMs)
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
    expect(reports.reduce((sum, { gaveBack }) => sum + gaveBack, 0)).toBe(12)
    for (const report of reports) expect(report).toMatchObject({ failed: 0, isComplete: true })
    const releases = [...one.takeCallNames(), ...other.takeCallNames()].filter((name) => name === 'ledger.giveBack')
    expect(releases).toHaveLength(12)
    for (const workspace of workspaces) expect(await stateOf(workspace)).toEqual(NOTHING)
  })
})
