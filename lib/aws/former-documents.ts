import type { AttemptId } from '../ids.ts'
import type { FormerDocument } from '../promotion/document-records.ts'
import { readMap } from './stored-item.ts'

/** A deleted document, by its attempt id: what an audit that began earlier must know of it. */
export interface FormerItem {
  size_bytes: number
  /** ms since 1970, like all times here. */
  created_at: number
  counted_from?: number
  counted_through: number
  finished_at: number
}

/** An audit adds up for less than a day (MAX_AGE_MS in lib/maintenance/audit-usage.ts). */
const REMEMBERED_MS = 24 * 60 * 60 * 1000
/** Deletions of one id in a day. When there are as many, an audit knows that there may have been more. */
export const MAX_FORMER = 10

const REQUIRED = {
  size_bytes: 'number',
  created_at: 'number',
  counted_through: 'number',
  finished_at: 'number',
} as const

/** The oldest first. @throws UnreadableItemError */
export function readFormer(former: Record<string, FormerItem> | undefined): FormerDocument[] {
  return readMap(former, REQUIRED, 'former documents')
    .map(([attemptId, item]) => ({
      attemptId: attemptId as AttemptId,
      sizeBytes: item.size_bytes,
      createdAtMs: item.created_at,
      countedFrom: item.counted_from,
      countedThrough: item.counted_through,
      finishedAtMs: item.finished_at,
    }))
    .toSorted((one, other) => one.countedThrough - other.countedThrough)
}

/** With one more, and without those that are no longer needed. */
export function formerItemsWith(former: FormerDocument[], last: FormerDocument): Record<string, FormerItem> {
  const others = former.filter(
    ({ attemptId, finishedAtMs }) => attemptId !== last.attemptId && finishedAtMs > last.finishedAtMs - REMEMBERED_MS,
  )
  return Object.fromEntries(
    [...others, last].slice(-MAX_FORMER).map((each) => [
      each.attemptId,
      {
        size_bytes: each.sizeBytes,
        created_at: each.createdAtMs,
        ...(each.countedFrom !== undefined && { counted_from: each.countedFrom }),
        counted_through: each.countedThrough,
        finished_at: each.finishedAtMs,
      },
    ]),
  )
}
