import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface FunctionHost {
  /** Of Lambda's own API. */
  lambdaPort: number
  /** SIGKILL: whatever it is doing stays half done. */
  kill(): Promise<void>
}

/**
 * The functions of dist/ in a process of their own, as the local service has them, but ready in a fraction of the time:
 * without the framework.
 */
export async function startFunctionHost(environment: Record<string, string>): Promise<FunctionHost> {
  const { PATH, NODE_OPTIONS, NODE_COMPILE_CACHE, RECORD_AWS_CALLS_IN } = process.env
  const child = fork(join(import.meta.dirname, 'function-host-main.ts'), {
    env: {
      PATH,
      NODE_OPTIONS,
      NODE_COMPILE_CACHE,
      RECORD_AWS_CALLS_IN,
      ...environment,
      POWERTOOLS_LOG_LEVEL: 'SILENT',
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const [lambdaPort] = await Promise.race([once(child, 'message'), exited.then(notStarted)])
  return {
    lambdaPort,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function notStarted([code]: unknown[]): never {
  throw new Error(`the functions' process ended with ${code} before it was ready`)
}
