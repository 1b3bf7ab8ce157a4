// Nothing that the bundle needs may be loaded here before it, as that would not be counted.
import { serve } from '../worker.ts'

const REMAINING_MS = 28_000
const [bundle = ''] = process.argv.slice(2)

let handler: ((event: unknown, context: unknown) => Promise<{ statusCode: number; body: string }>) | undefined

async function request(template: unknown): Promise<void> {
  // Each invocation has an event of its own.
  const event = structuredClone(template)
  const startedMs = performance.now()
  const context = {
    awsRequestId: 'request_bench',
    functionName: 'promote-container-file',
    getRemainingTimeInMillis: () => Math.floor(REMAINING_MS - (performance.now() - startedMs)),
  }
  const answer = await handler?.(event, context)
  if (answer?.statusCode !== 200) throw new Error(`a request was answered: ${answer?.body}`)
}

const methods = {
  /** @returns milliseconds for the load and the first request */
  async load(event: unknown): Promise<number> {
    const startedMs = performance.now()
    if (bundle.endsWith('.cjs')) handler = process.getBuiltinModule('module').createRequire(bundle)(bundle).handler
    else handler = (await import(bundle)).handler
    await request(event)
    return performance.now() - startedMs
  },
  /** One after the other. @returns milliseconds of a processor for each, those of all its threads */
  async run({ event, count }: { event: unknown; count: number }): Promise<number> {
    const before = process.cpuUsage()
    for (let ran = 0; ran < count; ran++) await request(event)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / count
  },
}
export type HandlerMethods = typeof methods

serve(methods)
