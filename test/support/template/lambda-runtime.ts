import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { unzipSync } from 'fflate'
import { startFunctionHost } from '../../../infra/local/gateway/function-host.ts'
import type { Resource } from './packages.ts'

export type LambdaRuntime = Awaited<ReturnType<typeof startLambdaRuntime>>

/**
 * Runs a packaged function in a process of its own, with the environment of the template.
 * @param task where its artifact is unzipped, as Lambda does into /var/task
 * @param environment what Lambda itself sets: region, credentials; and where AWS is
 */
export async function startLambdaRuntime(
  lambda: Resource,
  { artifact, task, environment }: { artifact: Uint8Array; task: string; environment: Record<string, string> },
) {
  for (const [name, bytes] of Object.entries(unzipSync(artifact))) {
    if (name.endsWith('/')) continue
    await mkdir(dirname(join(task, name)), { recursive: true })
    await writeFile(join(task, name), bytes)
  }
  const { Handler: handler, Timeout, FunctionName: name, Environment } = lambda.Properties
  const variables = { ...Environment.Variables, ...environment, AWS_LAMBDA_FUNCTION_NAME: name, LAMBDA_TASK_ROOT: task }
  let written = ''
  const host = await startFunctionHost({
    root: task,
    functions: [{ name, handler, timeoutMs: 1000 * Timeout, schedules: [] }],
    environment: variables,
    log: (text) => {
      written += text
    },
  })
  return {
    // biome-ignore lint/suspicious/noExplicitAny: whatever the handler answers
    async invoke(event: unknown): Promise<any> {
      // Its output is in the pipe before its answer: both are read in the same turn of the loop, in either order.
      return host.invoke(name, event).finally(nextTurn)
    },
    /** Lines written since the last look: JSON, of the log or of metrics. */
    takeLines(): Record<string, unknown>[] {
      const lines = written.split('\n').filter((line) => line !== '')
      written = ''
      return lines.map((line) => JSON.parse(line))
    },
    stop: host.stop,
  }
}
