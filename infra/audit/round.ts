import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { AuditTask } from '../../lib/maintenance/audit-round.ts'
import { type Definition, play } from './play.ts'

const FILE = join(import.meta.dirname, '../resources/audit-definition.yml')

/** The state machine that is deployed. */
export const readAuditDefinition = (): Definition => parse(readFileSync(FILE, 'utf8'))

interface Round {
  definition: Definition
  roundId: string
  /** Carries a task out, as the function does. What goes in and comes out is JSON. */
  invoke(task: AuditTask, signal: AbortSignal): Promise<unknown>
  signal: AbortSignal
  maxConcurrency?: number
  pause?(seconds: number, signal: AbortSignal): Promise<unknown>
}

/** Plays a round of the audit, as the only one that runs. @returns what its last task answered, or the refusal */
export async function playRound({ definition, roundId, invoke, ...stage }: Round): Promise<unknown> {
  const StartTime = new Date().toISOString()
  const context = { Execution: { Name: roundId, StartTime }, StateMachine: { Id: 'audit-round' } }
  return play(definition, {}, { ...stage, context, perform })

  async function perform(resource: string, parameters: unknown, signal: AbortSignal): Promise<unknown> {
    // A name that the template puts an ARN for.
    const [, name] = /^\$\{(\w+)\}$/.exec(resource) ?? []
    if (name === 'ListExecutions') return { Executions: [{ Name: roundId, StartDate: StartTime }] }
    if (name !== 'InvokeFunction') throw new Error(`nobody knows the task ${resource}`)
    const { Payload } = JSON.parse(JSON.stringify(parameters)) as { Payload: AuditTask }
    return { Payload: JSON.parse(JSON.stringify((await invoke(Payload, signal)) ?? null)) }
  }
}
