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

/** Whether a file satisfies the preconditions, as far as a lookup can tell. */
export function fileMatches(
  file: { etag: string; sizeBytes: number },
  { etags, sizeBytes = file.sizeBytes }: Preconditions = {},
): boolean {
  return file.sizeBytes === sizeBytes && (etags?.some((etag) => etag === file.etag) ?? true)
}

/** Whether the document was made of such a file. If a SHA-256 is asked for, a document without one does not match. */
export function documentMatches(
  { sourceEtag: etag, sizeBytes, sha256 }: Pick<WorkspaceDocument, 'sourceEtag' | 'sizeBytes' | 'sha256'>,
  preconditions: Preconditions = {},
): boolean {
  return fileMatches({ etag, sizeBytes }, preconditions) && (preconditions.sha256 ?? sha256) === sha256
}

/** So much is left for the promotion, when the file comes at last. */
const KEPT_FOR_PROMOTION_MS = 5000
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 4000

/** @returns how long to pause before each further look: eight at most, as each counts as a request */
export function pausesOf({ waitMs = 0 }: Preconditions = {}, { leftMs }: Deadline): number[] {
  const pauses: number[] = []
  const endMs = Math.min(waitMs, leftMs() - KEPT_FOR_PROMOTION_MS)
  for (let atMs = 0, nextMs = FIRST_PAUSE_MS; atMs < endMs; nextMs = Math.min(2 * nextMs, LONGEST_PAUSE_MS)) {
    const pauseMs = Math.min(nextMs, endMs - atMs)
    pauses.push(pauseMs)
    atMs += pauseMs
  }
  return pauses
}
