import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

type Methods = Record<string, (argument: never) => unknown>
type Argument<Method> = Method extends (argument: infer Input) => unknown ? Input : never
type Answer<Method> = Method extends (...input: never) => infer Output ? Awaited<Output> : never

/** A process of its own, so that it does not share an event loop with what is measured. */
export interface Worker<Served extends Methods> {
  call<Name extends keyof Served & string>(name: Name, argument: Argument<Served[Name]>): Promise<Answer<Served[Name]>>
  stop(): Promise<void>
}

interface WorkerOptions {
  args?: string[]
  env?: Record<string, string>
  /** How long a call may take. */
  callLimitMs?: number
}

/** Nothing that is asked of a worker takes this long. */
const CALL_LIMIT_MS = 180_000

/** Starts a file of workers/ or simulator/ as a process. What it prints to standard output (the product's log) is dropped. */
export async function startWorker<Served extends Methods>(
  file: string,
  { args = [], env = {}, callLimitMs = CALL_LIMIT_MS }: WorkerOptions = {},
): Promise<Worker<Served>> {
  const child = fork(join(import.meta.dirname, file), args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const answerOf = (id: number, what: string): Promise<unknown> => {
    const call = Promise.withResolvers<unknown>()
    waiting.set(id, call)
    const limit = setTimeout(() => call.reject(new Error(`${file} does not answer ${what}`)), callLimitMs)
    return call.promise.finally(() => clearTimeout(limit))
  }
  let lastId = 0
  child.on('message', ({ id, answer, failure }: { id: number; answer?: unknown; failure?: string }) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (failure === undefined) call?.resolve(answer)
    else call?.reject(new Error(`${file}: ${failure}`))
  })
  const exited = once(child, 'exit').then(() => {
    for (const call of waiting.values()) call.reject(new Error(`${file} has ended`))
  })
  await answerOf(0, 'that it is ready')
  return {
    call(name, argument) {
      const id = ++lastId
      const answer = answerOf(id, name)
      if (child.connected) child.send({ id, name, argument })
      else waiting.get(id)?.reject(new Error(`${file} has ended`))
      return answer as never
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exited
    },
  }
}

/** The worker's side: answers the calls of the process that started it, and ends with it. */
export function serve<Served extends Methods>(methods: Served): void {
  process.on('disconnect', () => process.exit())
  process.on('message', async ({ id, name, argument }: { id: number; name: string; argument: never }) => {
    try {
      process.send?.({ id, answer: await methods[name]?.(argument) })
    } catch (error) {
      process.send?.({ id, failure: error instanceof Error ? error.stack : String(error) })
    }
  })
  process.send?.({ id: 0 })
}
