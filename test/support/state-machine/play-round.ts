import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import type { AuditTask } from '../../../lib/audit/audit-round.ts'
import { type Definition, play } from './play.ts'

const FILE = join(import.meta.dirname, '../../../infra/resources/audit-definition.yml')

/** The state machine that is deployed. */
export const readAuditDefinition = (): Definition => parse(readFileSync(FILE, 'utf8'), { merge: true })

interface Round {
  definition: Definition
  roundId: string
  /** Carries a task out, as the function does. What goes in and comes out is JSON. */
  invoke(task: AuditTask): Promise<unknown>
  signal: AbortSignal
  /** Caps the pauses before a task is tried again; omitted: they are as long as the definition says. */
  longestPauseMs?: number
}

/** Plays a round of the audit, as the only one that runs. @returns what its last task answered, or the refusal */
export async function playRound({
  definition,
  roundId,
  invoke,
  signal,
  longestPauseMs = Number.POSITIVE_INFINITY,
}: Round): Promise<unknown> {
  const StartTime = new Date().toISOString()
  const context = { Execution: { Name: roundId, StartTime }, StateMachine: { Id: 'audit-round' } }
  const pause = (ms: number) => sleep(Math.min(ms, longestPauseMs), undefined, { signal })
  return play(definition, {}, { context, signal, perform, pause })

  async function perform(resource: string, parameters: unknown): Promise<unknown> {
    // A name that the template replaces by an ARN.
    const [, name] = /^\$\{(\w+)\}$/.exec(resource) ?? []
    if (name === 'ListExecutions') return { Executions: [{ Name: roundId, StartDate: StartTime }] }
    if (name !== 'InvokeFunction') throw new Error(`nobody knows the task ${resource}`)
    const { Payload } = JSON.parse(JSON.stringify(parameters)) as { Payload: AuditTask }
    return { Payload: JSON.parse(JSON.stringify((await invoke(Payload)) ?? null)) }
  }
}
