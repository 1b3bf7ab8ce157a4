import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Resource } from './packages.ts'

export interface LambdaRuntime {
  /** @throws Error with the message of what the handler threw */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the handler answers
  invoke(event: unknown): Promise<any>
  /** Lines written since the last look: JSON, of the log or of metrics. */
  takeLines(): Record<string, unknown>[]
  stop(): Promise<void>
}

interface Answer {
  id: string
  result?: unknown
  error?: string
}

/**
 * Runs a packaged function as Lambda does: a process of its own in the unzipped artifact, with the environment of the
 * template and nothing else, invoked one event at a time.
 * @param environment what Lambda itself sets: region, credentials; and where AWS is
 */
export async function startLambdaRuntime(
  lambda: Resource,
  { task, environment }: { task: string; environment: Record<string, string> },
): Promise<LambdaRuntime> {
  const { Handler, Timeout, FunctionName, Environment } = lambda.Properties
  const child = fork(new URL('lambda-bootstrap.mjs', import.meta.url), [Handler, String(Timeout)], {
    cwd: task,
    env: {
      ...Environment.Variables,
      ...environment,
      AWS_LAMBDA_FUNCTION_NAME: FunctionName,
      LAMBDA_TASK_ROOT: task,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      RECORD_AWS_CALLS_IN: process.env.RECORD_AWS_CALLS_IN,
    },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text
    })
  }
  return {
    invoke: (event) => invoke(child, event, () => written),
    takeLines() {
      const lines = written.split('\n').filter((line) => line !== '')
      written = ''
      return lines.map((line) => JSON.parse(line))
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function invoke(child: ChildProcess, event: unknown, output: () => string): Promise<unknown> {
  const id = randomUUID()
  child.send({ id, event })
  const answer = await new Promise<Answer>((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the function's process ended with ${code}:\n${output()}`))
    const onMessage = (message: Answer) => {
      if (message.id !== id) return
      child.off('message', onMessage).off('exit', onExit)
      resolve(message)
    }
    child.on('message', onMessage).once('exit', onExit)
  })
  if (answer.error !== undefined) throw new Error(answer.error)
  return answer.result
}
