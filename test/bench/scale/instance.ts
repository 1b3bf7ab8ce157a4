import { HttpResponse } from '@smithy/core/protocols'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { waitUnlessAborted } from '../contention/in-process-handler.ts'
import type { DynamoDbAnswer } from './formula-dynamodb.ts'
import type { S3Answer, S3Request } from './formula-s3.ts'
import type { Meter } from './meter.ts'

export interface Stores {
  dynamoDb: { execute(operation: string, input: Record<string, unknown>): Promise<DynamoDbAnswer> }
  s3: { answer(request: S3Request): S3Answer }
}

export interface InstanceOptions {
  stores: Stores
  meter: Meter
  /** Of the function. */
  memoryMib: number
  /** ms of one call, to and fro. */
  latencyMs(service: 'dynamoDb' | 's3'): number
  /** Is told of every call of DynamoDB that was answered with 200. */
  onDone?(operation: string, input: Record<string, unknown>): void
}

/** A process of a Lambda function: clients of AWS, and one processor that does what their calls take. */
export interface Instance {
  dynamoDb: ReturnType<typeof createDynamoDbClient>
  s3: ReturnType<typeof createS3Client>
  /** From now on no call is sent, and none is answered. */
  kill(): void
}

/** Amazon Lambda developer guide, "Configure memory": from here on a function has one whole processor. */
const MEMORY_MIB_OF_ONE_PROCESSOR = 1769
/**
 * Of a whole processor: what the adapters and the SDK take for one call (3.85 ms for the nine of a promotion, handler
 * and log among them: docs/performance.md, "own CPU time"), and for each KB of a long answer (the processor time that this
 * bench shows for each document, of which the formula takes some, is below that).
 */
export const CPU_MS = { call: 0.43, answerKb: 0.06 }

const encode = new TextEncoder()
const decode = new TextDecoder()
const common = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  endpoint: 'http://in-process',
  // A signature takes longer than all the rest, and nobody checks it here.
  signer: { sign: async (request: unknown) => request },
}

/** A process that lives on the virtual clock. */
export function createInstance({ stores, meter, memoryMib, latencyMs, onDone = () => {} }: InstanceOptions): Instance {
  const processors = Math.min(1, memoryMib / MEMORY_MIB_OF_ONE_PROCESSOR)
  let busyUntilMs = performance.now()
  let isAlive = true

  /** The one processor does one thing after the other. */
  const compute = async (cpuMs: number, signal: HttpHandlerOptions['abortSignal']) => {
    busyUntilMs = Math.max(busyUntilMs, performance.now()) + cpuMs / processors
    await pass(busyUntilMs - performance.now(), signal)
  }
  const pass = async (ms: number, signal: HttpHandlerOptions['abortSignal']) => {
    await waitUnlessAborted(ms, signal)
    // Nobody waits for what a dead process had asked.
    if (!isAlive) await new Promise(() => {})
  }
  const call = async <Answer extends { statusCode: number }>(
    wayMs: number,
    signal: HttpHandlerOptions['abortSignal'],
    work: () => Promise<Answer> | Answer,
    textOf: (answer: Answer) => string,
    contentType: string,
  ) => {
    await compute(CPU_MS.call, signal)
    await pass(wayMs, signal)
    const answer = await work()
    const body = encode.encode(textOf(answer))
    await pass(wayMs, signal)
    await compute((body.length / 1024) * CPU_MS.answerKb, signal)
    const headers = { 'content-type': contentType }
    return { response: new HttpResponse({ statusCode: answer.statusCode, headers, body }) }
  }

  const dynamoDb = createDynamoDbClient({
    ...common,
    requestHandler: {
      handle({ headers, body }: HttpRequest, { abortSignal }: HttpHandlerOptions = {}) {
        const operation = String(headers['x-amz-target']).replace(/^.*\./, '')
        const input = JSON.parse(typeof body === 'string' ? body : decode.decode(body)) as Record<string, unknown>
        const work = async () => {
          const answer = await stores.dynamoDb.execute(operation, input)
          if (answer.statusCode === 200) onDone(operation, input)
          return answer
        }
        return call(latencyMs('dynamoDb') / 2, abortSignal, work, ({ json }) => json, 'application/x-amz-json-1.0')
      },
    },
  } as never)
  const s3 = createS3Client({
    ...common,
    forcePathStyle: true,
    requestHandler: {
      handle({ method, path, query = {} }: HttpRequest, { abortSignal }: HttpHandlerOptions = {}) {
        const key = decodeURIComponent(path).replace(/^\/[^/]*\/?/, '')
        const asked = { method, key, query: query as S3Request['query'] }
        meter.add(method === 'GET' ? { s3Lists: 1 } : method === 'HEAD' ? { s3Reads: 1 } : {})
        return call(
          latencyMs('s3') / 2,
          abortSignal,
          () => stores.s3.answer(asked),
          ({ xml }) => xml,
          'application/xml',
        )
      },
    },
  } as never)
  return {
    dynamoDb,
    s3,
    kill() {
      isAlive = false
    },
  }
}
