import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Download } from '../files/download.ts'
import { UNKNOWN_TYPE } from '../files/media-type.ts'
import type { Expiry } from '../ledger/expiry.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { StorageUsage } from '../ledger/ports/ledger.ts'
import type { Log } from '../logging.ts'
import { type AnswerHeaders, headerValue } from './headers.ts'
import type { ApiEvent, RateLimit } from './request-state.ts'

export function answer(body: object, headers: AnswerHeaders = {}): APIGatewayProxyResult {
  return { statusCode: 200, headers, body: JSON.stringify(body) }
}

/** Whether the client accepts no other type: `@openrouter/sdk` does not. */
export function acceptsOnlyOctetStream(event: ApiEvent): boolean {
  return headerValue(event, 'Accept')?.trim().toLowerCase() === UNKNOWN_TYPE
}

/** The body repeats the address for clients that do not follow redirects. */
export function redirectTo({ url, expiresAt }: Download, headers: AnswerHeaders = {}): APIGatewayProxyResult {
  return {
    statusCode: 302,
    headers: { ...headers, location: url, vary: 'Accept' },
    body: JSON.stringify({ url, expires_at: expiresAt.toISOString() }),
  }
}

export function contentHeaders(of: Pick<WorkspaceDocument, 'sha256' | 'contentEncoding'>): AnswerHeaders {
  return {
    ...(of.sha256 !== undefined && { 'file-sha256': of.sha256 }),
    ...(of.contentEncoding && { 'file-content-encoding': of.contentEncoding }),
  }
}

export function usageHeaders(usage: StorageUsage | undefined): AnswerHeaders {
  if (usage === undefined) return {}
  return { 'storage-quota-bytes': String(usage.quotaBytes), 'storage-used-bytes': String(usage.usedBytes) }
}

/** The seconds that hold, and who has said so (an item with a parameter, RFC 9651). */
export function expiryHeader(expiry: Expiry | undefined): AnswerHeaders {
  return expiry === undefined ? {} : { 'file-expires-in': `${expiry.seconds};by=${expiry.by}` }
}

/** The body with a page of a list. What cannot be read is logged and told by its id: it must not hide the others. */
export async function describePage<Item extends object>(
  items: AsyncIterable<Item | { id: string; error: unknown }>,
  { limit, idOf, describe, log }: { limit: number; idOf(item: Item): string; describe(item: Item): object; log: Log },
) {
  const data: object[] = []
  const unreadable: string[] = []
  let cursor: string | null = null
  for await (const item of items) {
    if (data.length + unreadable.length === limit) return { data, has_more: true, cursor, unreadable }
    if ('error' in item) {
      unreadable.push(item.id)
      log.error('listed, but not readable', { item_id: item.id, error: item.error })
    } else data.push(describe(item))
    cursor = 'error' in item ? item.id : idOf(item)
  }
  return { data, has_more: false, cursor: null, unreadable }
}

type Rest = { next: string | undefined; waiting: number; pauseMs: RateLimit['pauseMs'] }

/** Says in the body when to send the next request: a Retry-After means nothing on a 200 (RFC 9110 §10.2.3). */
export function describeOutcomes(data: object[], { next, waiting, pauseMs }: Rest) {
  const waitMs = next === undefined ? 0 : pauseMs(Math.max(1, waiting))
  const retry = waitMs > 0 && { retry_after_seconds: Math.ceil(waitMs / 1000) }
  return { object: 'list', data, has_more: next !== undefined, next: next ?? null, ...retry }
}

/** The items' share of the 6 MB that a function may answer (Lambda quotas); envelope and headers have the rest. */
const MAX_BYTES = 5_400_000

export function itemsThatFit<Item>(items: Item[]): Item[] {
  let bytes = 0
  // The body is a string in the function's answer, JSON in JSON: a quotation mark in a name takes four bytes.
  const tooMuch = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(item)))
    return bytes > MAX_BYTES
  })
  return tooMuch === -1 ? items : items.slice(0, tooMuch)
}
