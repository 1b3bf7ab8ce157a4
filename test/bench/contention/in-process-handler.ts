import type { HttpResponse } from '@smithy/core/protocols'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import { fromWire, toWire } from '../../support/aws/in-process.ts'
import type { Store } from '../../support/aws/store.ts'

/** A request handler of the SDK's clients. */
export interface InProcessHandler {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>
}

/**
 * The network and the store behind the SDK's clients, in this process. What they send is answered half of the latency
 * later, and the answer takes the other half.
 *
 * @param latencyMs of one call, to and fro
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
