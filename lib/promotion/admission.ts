import type { WorkspaceId } from '../ids.ts'

export type Admission = ReturnType<typeof createAdmission>

interface Seen {
  requests: number
  accepted: number
  atMs: number
}

/** Kept short, because a promotion that was refused seconds ago may get through now. */
const HALF_LIFE_MS = 2500
/** Requests let through for each accepted one: the surplus shows when it is no longer crowded. */
const LET_THROUGH_PER_ACCEPTED = 2
/** Above this probability of a refusal, waiting for the ledger would only make it busier. */
const TRY_ONCE_ABOVE = 0.02
const RETRY_AFTER_AT_FULL_LOAD_SECONDS = 10
const MOST_WORKSPACES = 1000

/**
 * A process's memory of workspaces whose ledgers were lately crowded, so that it refuses at once what would be
 * refused later anyway. After "Handling Overload" (Site Reliability Engineering, O'Reilly 2016, chapter 21): each
 * process lets through up to twice as many as it has seen accepted, however many processes there are.
 */
export function createAdmission({ now, random = Math.random }: { now(): number; random?(): number }) {
  const seen = new Map<WorkspaceId, Seen>()

  /** The counts, decayed to now; after an idle minute nothing is left of them. */
  const recall = (workspaceId: WorkspaceId): Seen => {
    const { requests, accepted, atMs } = seen.get(workspaceId) ?? { requests: 0, accepted: 0, atMs: now() }
    const decay = 0.5 ** (Math.max(0, now() - atMs) / HALF_LIFE_MS)
    return { requests: requests * decay, accepted: accepted * decay, atMs: now() }
  }
  const refusalProbability = (workspaceId: WorkspaceId) => {
    const { requests, accepted } = recall(workspaceId)
    return Math.max(0, (requests - LET_THROUGH_PER_ACCEPTED * accepted) / (requests + 1))
  }

  return {
    decide(workspaceId: WorkspaceId): 'refuse' | 'try_once' | 'retry' {
      const probability = refusalProbability(workspaceId)
      if (random() < probability) return 'refuse'
      return probability > TRY_ONCE_ABOVE ? 'try_once' : 'retry'
    },
    /** Call it for each promotion that got through to the ledger or was refused because that was crowded. */
    count(workspaceId: WorkspaceId, isAccepted: boolean): void {
      const { requests, accepted, atMs } = recall(workspaceId)
      // Moved to the end: the first entry is the one unused for longest.
      seen.delete(workspaceId)
      seen.set(workspaceId, { requests: requests + 1, accepted: accepted + (isAccepted ? 1 : 0), atMs })
      const [oldest] = seen.keys()
      if (seen.size > MOST_WORKSPACES && oldest !== undefined) seen.delete(oldest)
    },
    retryAfterSeconds(workspaceId: WorkspaceId): number {
      const seconds = 1 + (RETRY_AFTER_AT_FULL_LOAD_SECONDS - 1) * refusalProbability(workspaceId)
      return Math.ceil(seconds * (1 + random() / 4))
    },
  }
}
