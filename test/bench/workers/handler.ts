import { newToken } from '../../../lib/auth/api-token.ts'
import { formatFileId } from '../../../lib/promotion/ids.ts'
import { lambdaContext, restEvent } from '../../support/rest-event.ts'
import { serve } from '../worker.ts'

export interface Measured {
  /** Of each promotion, in the order they ended. */
  latenciesMs: number[]
  wallMs: number
  /** Of the whole process: user and system. */
  cpuMs: number
}

const [bundle = ''] = process.argv.slice(2)
const authorization = `Bearer ${newToken()}`

let handler: ((event: unknown, context: unknown) => Promise<{ statusCode: number; body: string }>) | undefined

async function promote(sizeBytes: number): Promise<number> {
  const event = restEvent({
    containerId: 'sess_1',
    fileId: formatFileId(`output/${sizeBytes}.bin`),
    headers: { authorization },
  })
  const context = lambdaContext()
  const startedMs = performance.now()
  const answer = await handler?.(event, context)
  const tookMs = performance.now() - startedMs
  if (answer?.statusCode !== 200) throw new Error(`a promotion was answered: ${answer?.body}`)
  return tookMs
}

const methods = {
  /** @returns milliseconds: the load, and the load with the first promotion */
  async load(): Promise<{ loadMs: number; firstMs: number }> {
    // What the driver itself needs is loaded before.
    restEvent({ containerId: 'c', fileId: formatFileId('f') })
    const startedMs = performance.now()
    handler = (await import(bundle)).handler
    const loadMs = performance.now() - startedMs
    await promote(1)
    return { loadMs, firstMs: performance.now() - startedMs }
  },
  async run({ count, sizeBytes, atOnce }: { count: number; sizeBytes: number; atOnce: number }): Promise<Measured> {
    const latenciesMs: number[] = []
    const cpu = process.cpuUsage()
    const startedMs = performance.now()
    let left = count
    const client = async () => {
      while (left-- > 0) latenciesMs.push(await promote(sizeBytes))
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    const wallMs = performance.now() - startedMs
    const { user, system } = process.cpuUsage(cpu)
    return { latenciesMs, wallMs, cpuMs: (user + system) / 1000 }
  },
}
export type HandlerMethods = typeof methods

serve(methods)
