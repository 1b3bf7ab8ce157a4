import { deleteDocument } from './delete-document.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { hasExpired } from './expiry.ts'
import type { DocumentItem, Stray } from './ports/documents.ts'
import { endStray, LONGEST_COPY_MS, undo } from './undo.ts'

/** Two processes may resolve an item at once. @returns whether it freed bytes; undefined: there was nothing to do */
export async function resolveDueItem(
  item: DocumentItem | Stray,
  nowMs: number,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  switch (item.state) {
    case 'pending':
      if (item.dueAtMs > nowMs) return undefined
      // Its process is dead, but S3 may still be at work.
      await undo(item, deps.now() + LONGEST_COPY_MS, deps, signal)
      return false
    case 'stray':
      if (item.dueAtMs > nowMs) return undefined
      await endStray(item, { isKept: false }, deps, signal)
      return false
    case 'ready': {
      if (!hasExpired(item, nowMs)) return undefined
      const deleted = await deleteDocument(item, { ifExpiredByMs: nowMs }, deps, signal)
      return deleted && deleted.usage !== undefined
    }
    case 'deleting':
      return (await deleteDocument(item, {}, deps, signal))?.usage !== undefined
    case 'gone':
      return undefined
  }
}
