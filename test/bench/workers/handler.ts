// Nothing that the bundle needs may be loaded here before it, as that would not be counted.
import { serve } from '../worker.ts'

export interface Measured {
  /** One of each request, in the order in which they ended. */
  latenciesMs: number[]
}
export interface Run {
  /** What API Gateway would hand over. */
  event: unknown
  count: number
  concurrency: number
}

const REMAINING_MS = 28_000
/** 302: a download. */
const SUCCESSES = new Set([200, 302])
const [bundle = ''] = process.argv.slice(2)

let handler: ((event: unknown, context: unknown) => Promise<{ statusCode: number; body: string }>) | undefined

async function request(template: unknown): Promise<number> {
  // Each invocation has an event of its own.
  const event = structuredClone(template)
  const startedMs = performance.now()
  const context = {
    awsRequestId: 'request_bench',
    functionName: 'promote-container-file',
    getRemainingTimeInMillis: () => Math.floor(REMAINING_MS - (performance.now() - startedMs)),
  }
  const answer = await handler?.(event, context)
  const tookMs = performance.now() - startedMs
  if (!SUCCESSES.has(answer?.statusCode ?? 0)) throw new Error(`a request was answered: ${answer?.body}`)
  return tookMs
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
  async run({ event, count, concurrency }: Run): Promise<Measured> {
    const latenciesMs: number[] = []
    let left = count
    const client = async () => {
      while (left-- > 0) latenciesMs.push(await request(event))
    }
    await Promise.all(Array.from({ length: concurrency }, client))
    return { latenciesMs }
  },
}
export type HandlerMethods = typeof methods

serve(methods)
