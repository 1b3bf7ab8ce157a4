import { HttpResponse } from '@smithy/core/protocols'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { DynamoDbFailure } from '../../support/dynamodb/failures.ts'
import type { LimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'

/** A request handler of the SDK's clients. */
export interface InProcessHandler {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>
}

const encode = new TextEncoder()
const decode = new TextDecoder()

/**
 * The network and the store behind the SDK's clients, in this process. What they send is answered by the DynamoDB that is
 * given, half of the latency later, and the answer takes the other half.
 *
 * @param latencyMs of one call, to and fro
 */
export function createInProcessHandler(dynamoDb: LimitedDynamoDb, latencyMs: () => number): InProcessHandler {
  return {
    async handle({ headers, body }, { abortSignal } = {}) {
      const operation = String(headers['x-amz-target']).replace(/^.*\./, '')
      const input = JSON.parse(typeof body === 'string' ? body : decode.decode(body))
      const wayMs = latencyMs() / 2
      await waitUnlessAborted(wayMs, abortSignal)
      const { statusCode, content } = await answer(dynamoDb, operation, input)
      await waitUnlessAborted(wayMs, abortSignal)
      return {
        response: new HttpResponse({
          statusCode,
          headers: { 'content-type': 'application/x-amz-json-1.0' },
          body: encode.encode(JSON.stringify(content)),
        }),
      }
    },
  }
}

async function answer(dynamoDb: LimitedDynamoDb, operation: string, input: Record<string, unknown>) {
  try {
    return { statusCode: 200, content: await dynamoDb.execute(operation, input) }
  } catch (error) {
    if (!(error instanceof DynamoDbFailure)) throw error
    return { statusCode: error.statusCode, content: error.body }
  }
}

/** Not at all when there is no delay. Rejects as the SDK's own handler does when the call is aborted meanwhile. */
export function waitUnlessAborted(delayMs: number, signal: HttpHandlerOptions['abortSignal']): Promise<void> {
  if (delayMs <= 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
    }
    const timer = setTimeout(() => {
      ;(signal as AbortSignal | undefined)?.removeEventListener('abort', giveUp)
      resolve()
    }, delayMs)
    if (signal?.aborted) giveUp()
    else (signal as AbortSignal | undefined)?.addEventListener('abort', giveUp, { once: true })
  })
}
