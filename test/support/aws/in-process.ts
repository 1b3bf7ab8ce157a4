import { Readable } from 'node:stream'
import { HttpResponse } from '@smithy/core/protocols'
import type { HttpHandlerOptions, HttpRequest } from '@smithy/types'
import type { Store, WireAnswer, WireRequest } from './store.ts'

export interface Transport {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>
}

/** Sends requests to a store in this process, without a network in between. */
export function inProcess(store: Store): Transport {
  return { handle: async (request) => ({ response: fromWire(await store(toWire(request)), request.method) }) }
}

/** The request as the SDK's own transport would send it. */
export function toWire({ method, path, query = {}, headers, body }: HttpRequest): WireRequest {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value ?? '')}`),
  )
  return {
    method,
    path: parameters.length === 0 ? path : `${path}?${parameters.join('&')}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    // Buffer.from(body) will not do: the SDK's own byte arrays warn when they are used as text.
    body:
      body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : Buffer.from(body ?? ''),
  }
}

export function fromWire({ status, headers, body }: WireAnswer, method: string): HttpResponse {
  const sent = Object.entries(headers).filter(([, value]) => value !== undefined)
  return new HttpResponse({
    statusCode: status,
    headers: Object.fromEntries(sent.map(([name, value]) => [name, String(value)])),
    // A body that may be an object's content is streamed.
    body: method === 'GET' ? Readable.from([Buffer.from(body)]) : Buffer.from(body),
  })
}
