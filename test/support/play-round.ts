import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import { parse } from 'yaml'
import type { AuditTask } from '../../lib/audit/audit-round.ts'

const FILE = join(import.meta.dirname, '../../infra/resources/audit-definition.yml')

/** The state machine that is deployed. */
export const readAuditDefinition = (): StateMachineDefinition => parse(readFileSync(FILE, 'utf8'), { merge: true })

/** The states in which the function carries a task out. */
const TASKS = ['Begin', 'Slice', 'SliceOfOne', 'Skip', 'End']
// test/template/audit-round.test.ts validates it, with the ARNs that the template puts in.
const NO_ARNS = { validationOptions: { noValidate: true } }

interface Round {
  definition: StateMachineDefinition
  roundId: string
  /** Carries a task out, as the function does. What goes in and comes out is JSON. */
  invoke(task: AuditTask): Promise<unknown>
  signal: AbortSignal
}

/**
 * Plays a round of the audit, as the only one that runs, without the pauses before a task is tried again.
 * @returns what its last task answered, or the refusal
 */
export async function playRound({ definition, roundId, invoke, signal }: Round): Promise<unknown> {
  const StartTime = new Date().toISOString()
  const perform = async (parameters: unknown) => {
    const { Payload } = JSON.parse(JSON.stringify(parameters)) as { Payload: AuditTask }
    return { Payload: JSON.parse(JSON.stringify((await invoke(Payload)) ?? null)) }
  }
  const forEachTask = <Value>(value: Value) => Object.fromEntries(TASKS.map((name) => [name, value]))
  const look = async () => ({ Executions: [{ Name: roundId, StartDate: StartTime }] })
  const { abort, result } = new StateMachine(definition, NO_ARNS).run(
    {},
    {
      context: { Execution: { Name: roundId, StartTime }, StateMachine: { Id: 'audit-round' } },
      overrides: {
        taskResourceLocalHandlers: { ...forEachTask(perform), FindRunningRounds: look },
        retryIntervalOverrides: forEachTask(0),
      },
    },
  )
  signal.addEventListener('abort', () => abort(), { once: true })
  return result
}
