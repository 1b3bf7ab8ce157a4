import type { Deadline } from '../deadline.ts'

/** What a caller says of the file that it means. Nothing but that file is promoted. */
export interface Preconditions {
  /** The ETags that it may have, with their quotes. */
  etags?: readonly string[] | undefined
  sizeBytes?: number | undefined
  /** How long to look again for a file that is missing or another one. */
  waitMs?: number | undefined
}

/** Whether this is the file that is meant, as far as it is known; an unknown ETag is another one. */
export function isMeant(
  file: { etag: string | undefined; sizeBytes: number },
  { etags, sizeBytes = file.sizeBytes }: Preconditions = {},
): boolean {
  return file.sizeBytes === sizeBytes && (etags?.some((etag) => etag === file.etag) ?? true)
}

/** So much is left for the promotion, when the file comes at last. */
const KEPT_FOR_PROMOTION_MS = 5000
const FIRST_PAUSES_MS = [500, 700]
const LATER_PAUSES_MS = 900

/** @returns how long to pause before the next lookup; undefined when there is none */
export function startWaiting({ waitMs = 0 }: Preconditions = {}, deadline: Deadline): () => number | undefined {
  if (waitMs === 0) return () => undefined
  const keptMs = Math.max(KEPT_FOR_PROMOTION_MS, deadline.leftMs() - waitMs)
  const firstMs = [...FIRST_PAUSES_MS]
  return () => {
    const leftMs = deadline.leftMs() - keptMs
    return leftMs > 0 ? Math.min(firstMs.shift() ?? LATER_PAUSES_MS, leftMs) : undefined
  }
}
