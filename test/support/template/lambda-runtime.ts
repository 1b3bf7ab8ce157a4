import { startFunctionHost } from '../../../infra/local/gateway/function-host.ts'
import type { Resource } from './packages.ts'

export type LambdaRuntime = Awaited<ReturnType<typeof startLambdaRuntime>>

/**
 * Runs a packaged function in a process of its own, in the unzipped artifact, with the environment of the template.
 * @param environment what Lambda itself sets: region, credentials; and where AWS is
 */
export async function startLambdaRuntime(
  lambda: Resource,
  { task, environment }: { task: string; environment: Record<string, string> },
) {
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
    invoke: (event: unknown): Promise<any> => host.invoke(name, event),
    /** Lines written since the last look: JSON, of the log or of metrics. */
    takeLines(): Record<string, unknown>[] {
      const lines = written.split('\n').filter((line) => line !== '')
      written = ''
      return lines.map((line) => JSON.parse(line))
    },
    stop: host.stop,
  }
}
