import type { HttpResponse } from '@smithy/core/protocols'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { fromWire, toWire } from '../../support/aws/in-process.ts'
import type { Store } from '../../support/aws/store.ts'

/** A request handler of the SDK's clients. */
export interface InProcessHandler {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>
}

/**
 * The network and the store behind the SDK's clients, in this process. A request takes half of the latency to arrive,
 * and its answer the other half.
 *
 * @param latencyMs of one call, there and back
 */
export function createInProcessHandler(store: Store, latencyMs: () => number): InProcessHandler {
  return {
    async handle(request, { abortSignal } = {}) {
      const wayMs = latencyMs() / 2
      await waitUnlessAborted(wayMs, abortSignal)
      const answer = await store(toWire(request))
      await waitUnlessAborted(wayMs, abortSignal)
      return { response: fromWire(answer, request.method) }
    },
  }
}

/** Waits, unless there is no delay. If the call is aborted meanwhile, rejects as the SDK's own handler does. */
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
