import { afterAll, describe, expect, it } from 'vitest'
import type { AnyResponse } from '../../support/api/openapi.ts'
import { faultsAt, type PlannedFault, type Step } from '../../support/protocol/aws-failures.ts'
import { SCENARIOS } from '../../support/protocol/fault-scenarios.ts'
import { expectWhole, heal } from '../../support/protocol/heal.ts'
import type { RunLimits, Scenario } from '../../support/protocol/scenario-steps.ts'
import type { TestProcess } from '../../support/protocol/test-process.ts'
import type { StoresSnapshot } from '../../support/protocol/test-stores.ts'
import { useTestProcesses } from '../../support/protocol/use-test-processes.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

/** The time of all processes: no run makes different calls from the next because time has passed. */
const NOW_MS = Date.now()
/** Later than any lease, those of runs that began two hours later among them. */
const LATER_MS = 4 * 3_600_000
const LONG: RunLimits = { leftMs: 25_000, undoMs: 25_000, boundMs: 60_000 }
/** For a run that only its deadline ends. */
const shortTimes = (times: number): RunLimits => ({ leftMs: 2000 * times, undoMs: 25_000, boundMs: 2000 * times })

const MOST_TIMES = 8

/** S3 calls that hang take all the time that is left; DynamoDB calls that hang are sent again. */
const isEndedByDeadline = ({ call, fault }: PlannedFault) =>
  /^[A-Z]/.test(call) && ['hang', 'late', 'drip'].includes(fault.kind)

/** Every run of the scenario begins with this. */
interface Prepared {
  workspace: TestWorkspace
  stored: StoresSnapshot
  /** How far its clock is set forward. */
  clockOffsetMs: number
}

const onProcesses = useTestProcesses({ atOnce: 16 })
const counts = { steps: 0, runs: 0 }

afterAll(() => {
  console.log(`fault matrix: ${SCENARIOS.length} scenarios, ${counts.steps} steps, ${counts.runs} runs`)
})

async function prepare(scenario: Scenario, process: TestProcess): Promise<Prepared> {
  process.restart({ onTheWire: false })
  process.stopClock(NOW_MS)
  process.setClock(0)
  const workspace = await scenario.prepare(process)
  return { workspace, stored: process.snapshot(), clockOffsetMs: process.clockOffsetMs() }
}

/** The calls of a run to which nothing happens. */
async function recordSteps(scenario: Scenario, { workspace }: Prepared, process: TestProcess): Promise<Step[]> {
  process.restart()
  const response = await scenario.run(process, workspace, LONG)
  if (response) expect(response.status).toBe(scenario.status ?? 200)
  const calls = process.takeCallNames()
  // So that another copy plan cannot quietly take the parts out of the matrix.
  expect(calls.includes('UploadPartCopy')).toBe(scenario.name.endsWith('in parts'))
  // On the wire, so that the policies' test sees what resolver and audit ask for.
  await expectHealed(process, workspace, scenario)
  const seen = new Map<string, number>()
  const steps = calls.map((call) => {
    seen.set(call, (seen.get(call) ?? 0) + 1)
    return { call, occurrence: seen.get(call) ?? 0 }
  })
  return steps.filter(({ call }) => !scenario.brokenElsewhere?.test(call))
}

/** @returns `isMet`: whether a call met the fault */
async function runWithFault(
  scenario: Scenario,
  fault: PlannedFault,
  prepared: Prepared,
  process: TestProcess,
  times = 1,
): Promise<{ answer: AnyResponse | undefined; isMet: boolean }> {
  const { workspace, stored } = prepared
  process.restore(stored)
  process.stopClock(NOW_MS)
  process.setClock(prepared.clockOffsetMs)
  process.restart()
  let seen = 0
  let isMet = false
  process.breakCalls(({ name }) => {
    if (name !== fault.call || ++seen !== fault.occurrence) return undefined
    isMet = true
    return fault.fault
  })
  const limits = isEndedByDeadline(fault) ? shortTimes(times) : LONG
  const running = scenario.run(process, workspace, limits).catch((error) => {
    // Outside of HTTP a run may fail; what counts is what it leaves.
    if (scenario.name.startsWith('the') || scenario.name.startsWith('deleting') || process.mayBeReplaced())
      return undefined
    throw error
  })
  const answer = await Promise.race([running, process.died()])
  const wasKilled = process.mayBeReplaced()
  process.restart({ onTheWire: false })
  // The time was over before the run got that far, or calls made side by side came in another order.
  if (!isMet && times < MOST_TIMES) return runWithFault(scenario, fault, prepared, process, 2 * times)
  return { answer: wasKilled ? undefined : (answer ?? undefined), isMet }
}

/** Once leases have run out and the resolver ran, nothing is wrong any more. */
async function expectHealed(process: TestProcess, workspace: TestWorkspace, scenario: Scenario): Promise<void> {
  await heal(process, workspace, LATER_MS)
  if (isAudit(scenario)) await process.audit(workspace.workspaceId, true)
  await expectWhole(process, workspace)
  if (isExpiry(scenario)) expect(await process.stateOf(workspace)).toMatchObject({ documents: 0 })
}

/** How often its requests get in each other's way at the rate limit differs. */
const isParallel = ({ name }: Scenario) => name.includes('beside')
const isAudit = ({ name }: Scenario) => name.startsWith('the audit')
const isExpiry = ({ name }: Scenario) => name.startsWith('the expiry')
const idOf = (answer: AnyResponse) => (answer.body as { id: string }).id as never

describe.concurrent.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  'every fault at every call: %s',
  (name, scenario) => {
    it('leaves nothing behind, and answers as documented', { timeout: 600_000 }, async () => {
      const { prepared, steps } = await onProcesses.one(async (process) => {
        const ready = await prepare(scenario, process)
        return { prepared: ready, steps: await recordSteps(scenario, ready, process) }
      })
      expect(steps.length).toBeGreaterThan(0)
      counts.steps += steps.length
      const faults = faultsAt(steps)
      await onProcesses.all(faults, async (fault, process) => {
        counts.runs++
        try {
          const { workspace } = prepared
          const { answer, isMet } = await runWithFault(scenario, fault, prepared, process)
          if (!isParallel(scenario)) expect(isMet, 'the fault was met').toBe(true)
          const state = await process.stateOf(workspace)
          if (answer && answer.status !== 200) {
            const least = scenario.haveExpired ? 0 : scenario.documentsBefore
            expect(state.documents).toBeOneOf([least, scenario.documentsBefore])
            expect(state.objects).toBeLessThanOrEqual(scenario.documentsBefore + (scenario.strayObjects ?? 0))
          }
          await expectHealed(process, workspace, scenario)
          if (answer?.status === 200) {
            const ids = { ...workspace, documentId: idOf(answer) }
            const item = await process.deps.documents.find(ids, AbortSignal.timeout(60_000))
            expect(item?.state).toBe('ready')
          }
        } catch (error) {
          throw new Error(`${name}: ${fault.call} #${fault.occurrence} ${fault.what}`, { cause: error })
        }
      })
    })
  },
)
