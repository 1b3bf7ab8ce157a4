import type { Store, WireAnswer, WireRequest } from './store.ts'

/** A server that answers a request wrongly may ask the right one first. */
export type Wrong = (request: WireRequest, ask: Store) => Promise<WireAnswer>

export const RIGHT: Wrong = (request, ask) => ask(request)
export const both = (one: Wrong, other: Wrong): Wrong => {
  return (request, ask) => one(request, (changed) => other(changed, ask))
}

const taking = (change: (headers: WireRequest['headers']) => WireRequest['headers']): Wrong => {
  return (request, ask) => ask({ ...request, headers: change(request.headers) })
}
/** Does not look at these headers. */
export const without = (...names: string[]) =>
  taking((headers) => Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))))
/** Whatever version is asked for. */
export const onlyLatest = taking(({ 'x-amz-copy-source': source, ...headers }) =>
  source ? { ...headers, 'x-amz-copy-source': `${source}`.replace(/\?versionId=.*/, '') } : headers,
)

/** Method and path, and what is copied. */
const named = ({ method, path, headers }: WireRequest) =>
  [method, path, headers['x-amz-copy-source']].filter(Boolean).join(' ')

export const answering = (requests: RegExp, status: number, body: string): Wrong => {
  return async (request, ask) => (requests.test(named(request)) ? { status, headers: {}, body } : ask(request))
}
export const changing = (requests: RegExp, change: (answer: WireAnswer) => Partial<WireAnswer>): Wrong => {
  return async (request, ask) => {
    const answer = await ask(request)
    return requests.test(named(request)) ? { ...answer, ...change(answer) } : answer
  }
}
export const replacing = (requests: RegExp, text: string, by: string) =>
  changing(requests, ({ headers: { 'content-length': _, ...headers }, body }) => {
    return { headers, body: `${body}`.replace(text, by) }
  })
