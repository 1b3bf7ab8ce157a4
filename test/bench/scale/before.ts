import type { DueWorkspace, LedgerMaintenance } from '../../../lib/maintenance/ledger-maintenance.ts'
import { type ResolverDependencies, resolveWorkspace } from '../../../lib/promotion/resolve-workspace.ts'
import { UnreadableItemError } from '../../../lib/unreadable-item.ts'

const PARALLEL = 8
const MAX_RESOLUTIONS = 1000
const CLAIM_MS = 60_000

/** Of commit 459dfe7: the shards one after the other, eight workspaces at once, up to a thousand resolutions, on one function instance. */
export const MEMORY_MIB_BEFORE = 512

/** Goes through what is due as that commit did; looks at each workspace as today's code does. */
export async function resolveAsBefore(
  deps: ResolverDependencies & { ledgers: LedgerMaintenance },
  signal: AbortSignal,
): Promise<void> {
  let resolutions = 0
  const batch: DueWorkspace[] = []
  const resolveOne = async ({ workspaceId }: DueWorkspace) => {
    const bounds = {
      maxResolutions: MAX_RESOLUTIONS - resolutions,
      timeoutEachMs: 10_000,
      claimUntilMs: deps.now() + CLAIM_MS,
    }
    try {
      const { settled, released, failed } = await resolveWorkspace(workspaceId, bounds, deps, signal)
      return settled + released + failed
    } catch (error) {
      if (signal.aborted || error instanceof UnreadableItemError) throw error
      return 1
    }
  }
  const resolveBatch = async () => {
    for (const count of await Promise.all(batch.splice(0).map(resolveOne))) resolutions += count
  }
  try {
    for (const shard of deps.ledgers.shards) {
      for await (const page of deps.ledgers.listDue({ shard, nowMs: deps.now() }, signal)) {
        for (const due of page) {
          batch.push(due)
          if (batch.length === PARALLEL) await resolveBatch()
        }
      }
    }
    await resolveBatch()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
