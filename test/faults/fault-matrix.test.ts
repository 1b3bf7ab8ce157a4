import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsFor } from '../support/fault-kinds.ts'
import { SCENARIOS, type Scenario } from '../support/fault-scenarios.ts'
import { type Lane, type LaneFault, startLane } from '../support/lane.ts'
import type { AnyResponse } from '../support/openapi.ts'
import { type StandIns, startStandIns } from '../support/stand-ins.ts'
import { createWorld, type TestWorkspace } from '../support/world.ts'

const LANES = 8
const PAIRS = Number(process.env.FAULT_PAIRS ?? 120)
/** Later than any lease, those of runs that began two hours later among them. */
const LATER_MS = 4 * 3_600_000

/** One call of a run: the n-th of its name. */
interface Step {
  call: string
  occurrence: number
}
interface PlannedFault extends Step {
  what: string
  fault: LaneFault
}

let standIns: StandIns
let lanes: Lane[]
const idle: Lane[] = []
const counts = { steps: 0, runs: 0, pairs: 0 }

/** Stand-ins of its own for each block: listings get slower with all that other runs have left. */
function useLanes(): void {
  beforeAll(async () => {
    standIns = await startStandIns()
    lanes = await Promise.all(Array.from({ length: LANES }, () => startLane(standIns)))
    idle.splice(0, idle.length, ...lanes)
  })
  afterAll(async () => {
    await Promise.all(lanes.map((lane) => lane.stop()))
    await standIns.stop()
  })
}

afterAll(() => {
  console.log(
    `fault matrix: ${SCENARIOS.length} scenarios, ${counts.steps} steps, ${counts.runs} runs with one fault, ${counts.pairs} with two`,
  )
})

async function withLane<Result>(use: (lane: Lane) => Promise<Result>): Promise<Result> {
  const lane = idle.pop()
  if (!lane) throw new Error('more runs at once than lanes')
  try {
    return await use(lane)
  } finally {
    idle.push(lane)
  }
}

/** Runs all tasks, LANES at a time. */
async function onLanes<Task>(tasks: Task[], run: (task: Task, lane: Lane) => Promise<void>): Promise<void> {
  const queue = [...tasks]
  const ended = await Promise.allSettled(
    lanes.map(() =>
      withLane(async (lane) => {
        for (let task = queue.shift(); task !== undefined; task = queue.shift()) await run(task, lane)
      }),
    ),
  )
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

async function begin(scenario: Scenario, lane: Lane): Promise<TestWorkspace> {
  lane.revive()
  lane.setClock(0)
  return scenario.prepare(lane, createWorld(standIns))
}

/** The calls of a run to which nothing happens. */
async function recordSteps(scenario: Scenario): Promise<Step[]> {
  return withLane(async (lane) => {
    const workspace = await begin(scenario, lane)
    lane.takeCalls()
    const response = await scenario.run(lane, workspace)
    expect([undefined, 200, 403]).toContain(response?.status)
    const calls = lane.takeCalls()
    // So that another copy plan cannot quietly take the parts out of the matrix.
    expect(calls.includes('UploadPartCopy')).toBe(scenario.name.endsWith('in parts'))
    const seen = new Map<string, number>()
    return calls.map((call) => {
      seen.set(call, (seen.get(call) ?? 0) + 1)
      return { call, occurrence: seen.get(call) ?? 0 }
    })
  })
}

async function runWithFaults(scenario: Scenario, faults: PlannedFault[], lane: Lane) {
  const workspace = await begin(scenario, lane)
  const seen = new Map<string, number>()
  if (faults.some(({ fault }) => fault.kind === 'hang' || fault.kind === 'late')) lane.beImpatient()
  lane.breakCalls(({ name }) => {
    seen.set(name, (seen.get(name) ?? 0) + 1)
    return faults.find(({ call, occurrence }) => call === name && occurrence === seen.get(name))?.fault
  })
  // Outside of HTTP a run may fail; what counts is what it leaves.
  const response = await scenario.run(lane, workspace).catch((error) => {
    if (scenario.name.startsWith('the') || scenario.name.startsWith('deleting') || lane.isDead()) return undefined
    throw error
  })
  const wasKilled = lane.isDead()
  lane.revive()
  return { workspace, answer: wasKilled ? undefined : response }
}

/** Once leases have run out and the resolver ran, nothing is wrong any more. */
async function expectHealed(lane: Lane, { workspaceId }: TestWorkspace, isAudit: boolean): Promise<void> {
  await lane.deliverLate()
  lane.setClock(LATER_MS)
  expect(await lane.resolveWorkspace(workspaceId)).toMatchObject({ failed: 0, isComplete: true })
  if (isAudit) await lane.audit(workspaceId, true)
  expect(await lane.audit(workspaceId, false)).toEqual([])
  const state = await createWorld(standIns).stateOf({ workspaceId, token: '' })
  expect(state.reservations).toBe(0)
}

const idOf = (answer: AnyResponse) => (answer.body as { id: string }).id as never

describe.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  'every fault at every call: %s',
  (name, scenario) => {
    useLanes()

    it('leaves nothing behind, and answers as documented', { timeout: 180_000 }, async () => {
      const steps = await recordSteps(scenario)
      expect(steps.length).toBeGreaterThan(0)
      const planned = steps.flatMap((step) => faultsFor(step.call).map(([what, fault]) => ({ ...step, what, fault })))
      counts.steps += steps.length
      await onLanes(planned, async (fault, lane) => {
        counts.runs++
        const described = `${name}: ${fault.call} #${fault.occurrence} ${fault.what}`
        try {
          const { workspace, answer } = await runWithFaults(scenario, [fault], lane)
          const state = await createWorld(standIns).stateOf(workspace)
          if (answer && answer.status !== 200) {
            expect(state.documents).toBe(scenario.documentsBefore)
            expect(state.objects).toBeLessThanOrEqual(scenario.documentsBefore + (scenario.strayObjects ?? 0))
          }
          await expectHealed(lane, workspace, name.startsWith('the audit'))
          if (answer?.status === 200) {
            const document = await lane.deps.documents.find(
              workspace.workspaceId,
              idOf(answer),
              AbortSignal.timeout(5000),
            )
            expect(document && (await lane.deps.objects.hasObject(document.objectKey, AbortSignal.timeout(5000)))).toBe(
              true,
            )
          }
        } catch (error) {
          throw new Error(described, { cause: error })
        }
      })
    })
  },
)

describe('random pairs of faults', () => {
  useLanes()

  it('leave nothing behind', { timeout: 180_000 }, async () => {
    const plans = new Map<Scenario, PlannedFault[]>()
    for (const scenario of SCENARIOS) {
      const steps = await recordSteps(scenario)
      // Calls that only a failing run makes are broken as well.
      const undo = ['documents.fence', 'DeleteObject', 'ledger.mark', 'reservations.close', 'ledger.release'].map(
        (call) => ({
          call,
          occurrence: 1,
        }),
      )
      plans.set(
        scenario,
        [...steps, ...undo].flatMap((step) => faultsFor(step.call).map(([what, fault]) => ({ ...step, what, fault }))),
      )
    }
    const pair = fc
      .constantFrom(...SCENARIOS)
      .chain((scenario) =>
        fc.tuple(
          fc.constant(scenario),
          fc.constantFrom(...(plans.get(scenario) ?? [])),
          fc.constantFrom(...(plans.get(scenario) ?? [])),
        ),
      )
    const seed = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 31)
    await onLanes(fc.sample(pair, { numRuns: PAIRS, seed }), async ([scenario, one, other], lane) => {
      counts.pairs++
      const described = `FAULT_SEED=${seed}: ${scenario.name}: ${one.call} #${one.occurrence} ${one.what}, ${other.call} #${other.occurrence} ${other.what}`
      try {
        const { workspace } = await runWithFaults(scenario, [one, other], lane)
        await expectHealed(lane, workspace, scenario.name.startsWith('the audit'))
      } catch (error) {
        throw new Error(described, { cause: error })
      }
    })
  })
})
