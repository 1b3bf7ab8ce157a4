import type { Deadline } from '../deadline.ts'
import type { WorkspaceDocument } from '../ledger/ports/documents.ts'

/** A caller's description of the file that it means. Nothing but that file is promoted. */
export interface Preconditions {
  /** The ETags that it may have, with their quotes. */
  etags?: readonly string[] | undefined
  sizeBytes?: number | undefined
  /** In hex, known once the file is copied. */
  sha256?: string | undefined
  /** How long to look again for a file that is missing or another one. */
  waitMs?: number | undefined
}

/** Whether this is the file that is meant, as far as a lookup can tell. */
export function isMeant(
  file: { etag: string; sizeBytes: number },
  { etags, sizeBytes = file.sizeBytes }: Preconditions = {},
): boolean {
  return file.sizeBytes === sizeBytes && (etags?.some((etag) => etag === file.etag) ?? true)
}

/** Whether the document was made of the bytes that are meant. What it does not know counts as another. */
export function isMadeOfMeant(
  { sourceEtag: etag, sizeBytes, sha256 }: Pick<WorkspaceDocument, 'sourceEtag' | 'sizeBytes' | 'sha256'>,
  preconditions: Preconditions = {},
): boolean {
  return isMeant({ etag, sizeBytes }, preconditions) && (preconditions.sha256 ?? sha256) === sha256
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
