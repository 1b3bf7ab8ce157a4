import { ServiceError } from '../errors.ts'
import { deleteDocument } from './delete-document.ts'
import type { LedgerDependencies } from './dependencies.ts'
import { hasExpired } from './expiry.ts'
import type { Attempt, DeletedDocument, PendingDocument } from './ports/documents.ts'
import { LONGEST_COPY_MS, undo } from './undo.ts'

/** A function lives for 28 s (infra/deploy/functions.ts), and clocks differ: an attempt this old has no process. */
const LONGEST_LIFE_MS = 40_000

/**
 * Makes the pending item of an attempt. Twins, attempts at the same document, meet here, before anything is copied. A
 * twin whose process must be dead is undone first; an expired document is deleted and replaced.
 * @returns the document that an earlier attempt has made; undefined: the attempt has begun
 * @throws ServiceError promotion_in_progress, idempotency_key_spent; after any other error, the pending item may be there
 */
export async function beginDocument(attempt: Attempt, deps: LedgerDependencies, signal: AbortSignal) {
  const { documents, leaseMs, now } = deps
  let over: DeletedDocument | undefined
  for (;;) {
    const pending: PendingDocument = { ...attempt, state: 'pending', dueAtMs: now() + leaseMs }
    const there = await documents.begin(pending, over, signal)
    if (there === undefined) return undefined
    over = undefined
    switch (there.state) {
      case 'pending':
        if (ageMs(there, deps) < LONGEST_LIFE_MS) throw inProgress(there, deps)
        // Its copy may still be running, although its process is dead.
        await undo(there, now() + LONGEST_COPY_MS, deps, signal)
        break
      case 'ready':
        if (!hasExpired(there, now())) return there
        await deleteDocument(there, { ifExpiredByMs: now() }, deps, signal)
        break
      case 'deleting':
        if (!there.isExpired) throw new ServiceError('idempotency_key_spent')
        await deleteDocument(there, {}, deps, signal)
        break
      case 'gone':
        if (!there.isExpired) throw new ServiceError('idempotency_key_spent')
        await documents.keepTombstone(there, signal)
        over = there
    }
  }
}

/** Retry-After is the twin's age or, if shorter, the time until its process must be dead: then a retry replaces it. */
function inProgress(twin: PendingDocument, deps: LedgerDependencies): ServiceError {
  const age = ageMs(twin, deps)
  const waitMs = Math.min(age, LONGEST_LIFE_MS - age)
  return new ServiceError('promotion_in_progress', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
}

const ageMs = ({ dueAtMs }: PendingDocument, { leaseMs, now }: LedgerDependencies) => now() - (dueAtMs - leaseMs)
