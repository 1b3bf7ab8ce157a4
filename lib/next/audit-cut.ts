import type { AttemptId } from '../ids.ts'
import type { DocumentItem, Stray } from './ports/documents.ts'
import type { WorkspaceLedger } from './ports/ledger.ts'

/**
 * Tells, of each item of a workspace, whether a ledger that was read before counted its bytes, beside those of its own
 * takings. Items are given in the order of their keys, each as it is at any later time while tombstones live.
 */
export function isCountedAt({ version, takings, releases }: WorkspaceLedger) {
  const taken = new Set<AttemptId>(takings.map(({ attemptId }) => attemptId))
  const underWay = new Set(releases.map(({ releaseId }) => releaseId))
  // A tombstone that another document took the place of comes right behind it, and may have been seen in that place.
  const seen = { documentId: '', attempts: new Set<AttemptId>() }
  return (item: DocumentItem | Stray): item is Extract<DocumentItem, { sizeBytes: number }> => {
    if (item.state === 'pending' || item.state === 'stray') return false
    if (seen.documentId !== item.documentId) Object.assign(seen, { documentId: item.documentId, attempts: new Set() })
    if (taken.has(item.attemptId) || seen.attempts.has(item.attemptId)) return false
    seen.attempts.add(item.attemptId)
    if (item.countedFrom > version) return false
    if (item.state === 'ready' || item.releasedBy === undefined) return true
    const wasMarked = (item.markedIn ?? 0) <= version
    return !wasMarked || underWay.has(item.releasedBy)
  }
}
