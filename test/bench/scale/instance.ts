import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { fromWire, toWire } from '../../support/aws/in-process.ts'
import type { Store } from '../../support/aws/store.ts'
import { waitUnlessAborted } from '../contention/in-process-handler.ts'

export interface Stores {
  dynamoDb: Store
  s3: Store
}

export interface InstanceOptions {
  stores: Stores
  /** The function's memory. */
  memoryMib: number
  /** ms of one call, to and fro. */
  latencyMs(service: keyof Stores): number
}

/** A process of a Lambda function: AWS clients, and one processor that does the work of their calls. */
export type Instance = ReturnType<typeof createInstance>

/** Amazon Lambda developer guide, "Configure memory": from here on a function has one whole processor. */
const MEMORY_MIB_OF_ONE_PROCESSOR = 1769
/**
 * Time of a whole processor: what the adapters and the SDK take for one call (3.85 ms for the nine of a promotion,
 * handler and log among them), and for each KB of a long answer.
 */
const CPU_MS = { call: 0.43, answerKb: 0.06 }

const common = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  endpoint: 'http://in-process',
  // Signing would take longer than all the rest, and nobody checks signatures here.
  signer: { sign: async (request: unknown) => request },
}

/** A process that lives on the virtual clock. */
export function createInstance({ stores, memoryMib, latencyMs }: InstanceOptions) {
  const processors = Math.min(1, memoryMib / MEMORY_MIB_OF_ONE_PROCESSOR)
  let busyUntilMs = performance.now()

  /** The one processor does one thing after the other. */
  const compute = async (cpuMs: number, signal: HttpHandlerOptions['abortSignal']) => {
    busyUntilMs = Math.max(busyUntilMs, performance.now()) + cpuMs / processors
    await waitUnlessAborted(busyUntilMs - performance.now(), signal)
  }
  const requestHandlerOf = (service: keyof Stores) => ({
    async handle(request: HttpRequest, { abortSignal }: HttpHandlerOptions = {}) {
      const wayMs = latencyMs(service) / 2
      await compute(CPU_MS.call, abortSignal)
      await waitUnlessAborted(wayMs, abortSignal)
      const answer = await stores[service](toWire(request))
      await waitUnlessAborted(wayMs, abortSignal)
      await compute((answer.body.length / 1024) * CPU_MS.answerKb, abortSignal)
      return { response: fromWire(answer, request.method) }
    },
  })
  return {
    dynamoDb: createDynamoDbClient({ ...common, requestHandler: requestHandlerOf('dynamoDb') } as never),
    s3: createS3Client({ ...common, forcePathStyle: true, requestHandler: requestHandlerOf('s3') } as never),
  }
}
