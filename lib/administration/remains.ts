import type { Erasure } from '../ledger/ports/ledger.ts'

/** What is still there of a workspace. @property untilMs ms since 1970; undefined: until somebody else deletes it */
export interface Remains {
  what: string
  untilMs: number | undefined
  /** How many objects S3 has refused to delete. */
  count?: number
  /** Why S3 refuses. */
  reason?: string | undefined
}

const DAY_MS = 86_400_000
/** URLs for uploads hold for 7 days, and what they began may take an hour. */
export const LATE_UPLOADS_MS = 7 * DAY_MS + 3_600_000
/** AWS's own times, and those of our items' expiry; docs/tenants-and-regions.md has the same list. */
const DAYS = { backups: 35, traces: 30, kept_events: 14, request_counts: 3, events_of_stream: 1 }

/**
 * What an erasure leaves, with its end: nothing can be told before it has come to its second look.
 * @param options.logRetentionDays undefined: not known here
 */
export function remainsOf(erasure: Erasure, { logRetentionDays }: { logRetentionDays: number | undefined }): Remains[] {
  const { refused, reason, endedAtMs, beginsAtMs } = erasure
  const kept: Remains[] = refused ? [{ what: 'objects', untilMs: undefined, count: refused, reason }] : []
  if (endedAtMs === undefined) return kept
  const lateUploads = { what: 'late_uploads', untilMs: beginsAtMs + LATE_UPLOADS_MS }
  const copies = Object.entries({ ...DAYS, logs: logRetentionDays }).map(([what, days]) => ({
    what,
    untilMs: days === undefined ? undefined : endedAtMs + days * DAY_MS,
  }))
  const { deniedSandbox } = erasure
  if (deniedSandbox) kept.push({ what: 'container_files', untilMs: undefined, reason: deniedSandbox })
  const delivered = { what: 'events_delivered', untilMs: undefined }
  return [...kept, ...(erasure.dueAtMs === undefined ? [] : [lateUploads]), ...copies, delivered]
}
