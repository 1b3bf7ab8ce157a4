import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { FunctionDefinition } from '../../deploy/service-definition.ts'
import { LOOPBACK } from '../loopback.ts'

export type FunctionHost = Awaited<ReturnType<typeof startFunctionHost>>

interface FunctionHostOptions {
  root: string
  functions: readonly FunctionDefinition[]
  /** Added to this process's own. */
  environment: Readonly<Record<string, string>>
  log(text: string): void
  /** Where a debugger may attach, on loopback. */
  inspectPort?: number | undefined
}

/** To and from function-host-main.ts; an answer has the id of its invocation. */
export type InvocationMessage = { id: number; functionName: string; event: unknown }
export type AnswerMessage = { id: number; result?: unknown; error?: string }

/** Serves the functions of dist/ in one process of their own, which ends with this one. */
export async function startFunctionHost(options: FunctionHostOptions) {
  const failure = Promise.withResolvers<void>()
  let current = startProcess(options, failure.resolve)
  await current
  const stop = async () => (await current.catch(() => undefined))?.stop()
  return {
    /** Resolves when the process ended by itself. */
    failed: failure.promise,
    /** @throws when the function throws or takes longer than it may, or its process has ended */
    invoke: async (functionName: string, event: unknown) => (await current).invoke(functionName, event),
    /** Starts a new process, which loads the functions anew. Invocations under way are cut off, new ones wait. */
    async restart() {
      current = stop().then(() => startProcess(options, failure.resolve))
      await current
    },
    /** Stops it by SIGKILL: what is under way stays half done. */
    stop,
  }
}

async function startProcess(options: FunctionHostOptions, onFailure: () => void) {
  const { root, functions, environment, log, inspectPort } = options
  const child = fork(join(import.meta.dirname, 'function-host-main.ts'), [root, JSON.stringify(functions)], {
    env: { ...process.env, ...environment },
    execArgv: inspectPort === undefined ? [] : [`--inspect=${LOOPBACK}:${inspectPort}`, '--enable-source-maps'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // The child is not in the terminal's process group: Ctrl-C reaches the parent, which stops the child.
    detached: true,
  })
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', log)
  const exited = once(child, 'exit').then((): never => {
    throw new Error("the functions' process has ended")
  })
  await Promise.race([once(child, 'message'), exited])

  let isStopping = false
  exited.catch(() => isStopping || onFailure())
  let lastId = 0
  const awaited = new Map<number, (answer: AnswerMessage) => void>()
  child.on('message', (answer: AnswerMessage) => {
    awaited.get(answer.id)?.(answer)
    awaited.delete(answer.id)
  })
  return {
    async invoke(functionName: string, event: unknown): Promise<unknown> {
      const id = ++lastId
      const answered = new Promise<AnswerMessage>((resolve) => awaited.set(id, resolve))
      // If it cannot be sent, the end of the process answers the invocation.
      child.send({ id, functionName, event } satisfies InvocationMessage, () => {})
      const { result, error } = await Promise.race([answered, exited])
      if (error !== undefined) throw new Error(error)
      return result
    },
    async stop() {
      isStopping = true
      child.kill('SIGKILL')
      await exited.catch(() => {})
    },
  }
}
