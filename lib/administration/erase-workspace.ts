import type { ApiKeyAdministration } from '../auth/api-key-administration.ts'
import type { EventBus } from '../events/ports.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Erasure, Ledger } from '../ledger/ports/ledger.ts'
import { LONGEST_COPY_MS } from '../ledger/undo.ts'
import type { ErasedObjects, Erasures } from './ports/erasures.ts'
import { LATE_UPLOADS_MS } from './remains.ts'

export interface ErasureDependencies {
  ledger: Pick<Ledger, 'read'>
  erasures: Erasures
  erasedObjects: ErasedObjects
  apiKeys: Pick<ApiKeyAdministration, 'removeAll'>
  links: { removeAll(of: { workspaceId: WorkspaceId }, signal: AbortSignal): Promise<number> }
  /** Missing: nobody is told. */
  bus?: EventBus | undefined
  now(): number
}

/** Longer than one run of the function: after it, another run goes on with what a dead one has left. */
const CLAIM_MS = 15 * 60 * 1000
/** When the keys go, requests may run for another 28 s, and S3 may copy for even longer. By then, all has arrived. */
const SECOND_LOOK_MS = LONGEST_COPY_MS + 5 * 60 * 1000
const REFUSED_AGAIN_MS = 60 * 60 * 1000
/** All keys go, whatever time they were made at by whoever's clock: a closed workspace gets no new ones. */
const EVER_MS = Date.parse('9999-12-31')

/**
 * Goes on with the erasure of a workspace, if it is due and nobody else is at work on it. The workspace is closed, so
 * nobody misses what it counts: items are removed as they are, and the ledger is set to nothing at the end. What arrives
 * meanwhile finds no item and no hold; what it leaves behind, a second look finds.
 * @returns how far it has come; undefined: there is nothing to do now
 */
export async function eraseWorkspace(workspaceId: WorkspaceId, deps: ErasureDependencies, signal: AbortSignal) {
  const { erasures, now } = deps
  const ledger = await deps.ledger.read(workspaceId, signal)
  const shown = ledger?.erasure
  if (shown?.dueAtMs === undefined || shown.dueAtMs > now()) return undefined
  const { usedBytes, documents } = ledger ?? {}
  const begun = shown.state === 'scheduled' ? { ...shown, state: 'erasing' as const, usedBytes, documents } : shown
  const claimed: Erasure = { ...begun, dueAtMs: now() + CLAIM_MS }
  if (!(await erasures.change(workspaceId, { shown, to: claimed }, signal))) return undefined
  const found = await eraseAll(workspaceId, deps, signal)
  const to = next(claimed, found, now())
  if (to.state === 'erased' && claimed.state !== 'erased') await tell(workspaceId, to, deps, signal)
  return (await erasures.change(workspaceId, { shown: claimed, to }, signal)) ? to : undefined
}

type Found = { erased: number; refused: number } & Pick<Erasure, 'reason' | 'deniedSandbox'>

/** Keys first, so that nothing new comes in; then what leads to objects, and the objects, whatever leads to them. */
async function eraseAll(workspaceId: WorkspaceId, deps: ErasureDependencies, signal: AbortSignal): Promise<Found> {
  const { apiKeys, links, erasures, erasedObjects, ledger } = deps
  await apiKeys.removeAll(workspaceId, EVER_MS, signal)
  let erased = await links.removeAll({ workspaceId }, signal)
  for await (const removed of erasures.removeItems(workspaceId, signal)) erased += removed
  const counted = await ledger.read(workspaceId, signal)
  erased += (counted?.holds.length ?? 0) + (counted?.refunds.length ?? 0)
  await erasures.clear(workspaceId, signal)
  const found: Found = { erased, refused: 0 }
  for (const bucket of ['documents', 'sandbox'] as const) {
    const { reason, isDenied, ...swept } = await erasedObjects.erase({ bucket, workspaceId }, signal)
    found.erased += swept.erased
    // A sandbox bucket that is not ours may keep its files to itself.
    if (isDenied && bucket === 'sandbox') found.deniedSandbox = reason
    else {
      found.refused += swept.refused + (isDenied ? 1 : 0)
      found.reason ??= reason
    }
  }
  return found
}

/** Before the write that says so: the event may come twice, but it comes. @throws when the bus refuses it */
async function tell(
  workspaceId: WorkspaceId,
  { usedBytes, documents, verifiedAtMs = 0 }: Erasure,
  { bus }: ErasureDependencies,
  signal: AbortSignal,
): Promise<void> {
  const occurredAt = new Date(verifiedAtMs)
  const detail = { workspace_id: workspaceId, documents, used_bytes: usedBytes, occurred_at: occurredAt.toISOString() }
  const event = { type: 'workspace.erased', detail: JSON.stringify(detail), occurredAt } as const
  const refusals = await bus?.put([event], signal)
  for (const { reason, error } of refusals?.values() ?? [])
    throw new Error(`the bus refuses the event workspace.erased: ${reason}`, { cause: error })
}

/** Nothing found by a second look: it is erased. The sandboxes are looked through once more, when upload URLs have ended. */
function next(claimed: Erasure, { erased, refused, reason, deniedSandbox }: Found, nowMs: number): Erasure {
  const { dueAtMs: _, refused: __, reason: ___, ...former } = claimed
  const erasure = { ...former, deniedSandbox }
  const state = erasure.state === 'erased' ? 'erased' : 'erasing'
  if (refused > 0) return { ...erasure, state, refused, reason, dueAtMs: nowMs + REFUSED_AGAIN_MS }
  if (state === 'erased') return erasure
  if (erasure.state === 'verifying' && erased === 0) {
    const lastLook = erasure.beginsAtMs + LATE_UPLOADS_MS
    return { ...erasure, state: 'erased', verifiedAtMs: nowMs, ...(nowMs < lastLook && { dueAtMs: lastLook }) }
  }
  return { ...erasure, state: 'verifying', endedAtMs: erasure.endedAtMs ?? nowMs, dueAtMs: nowMs + SECOND_LOOK_MS }
}
