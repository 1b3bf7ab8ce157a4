import { ConditionalCheckFailedException, type UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { WorkspaceId } from '../../ids.ts'
import type { MarkerId } from '../../ledger/ports/quota-ledger.ts'
import type { RetryOptions, SendOptions } from '../calls/send.ts'
import type { Update } from './table.ts'
import { checkShardOf, readWorkspaceItem, type TakingItem, type WorkspaceItem } from './workspace-item.ts'

/** With this many takings, the item is below 1 KB and a write costs one unit (docs/decisions/0002-quota-ledger.md). */
export const MAX_TAKINGS = 19
const LONGEST_ID_WITH_ALL = 36
/** A taking in the item, for about 12 ms until its attempt has reserved: the attempt's id, its size and lease. */
const TAKING_BYTES = 43
/** Releases have places of their own, so they do not wait for takings. */
export const MAX_RELEASES = 7
/** No live marker lasts this long: older ones are leftovers of dead processes and take up no place. */
const LEFTOVER_MS = 10_000
/** Leftovers stay until their leases end; this many make the item 4 KB. */
const MAX_LEFTOVERS = 60
/** About ten tries in the six seconds for which a promotion is patient. */
const LONGEST_PAUSE_MS = { takings: 1300, releases: 65 }

/** A long workspace id takes the room of some takings. */
export function mostTakings(workspaceId: WorkspaceId): number {
  return MAX_TAKINGS - Math.max(0, Math.ceil((workspaceId.length - LONGEST_ID_WITH_ALL) / TAKING_BYTES))
}

export const IS_MARKED = 'attribute_exists(#markers.#marker)'
// The amount comes from the marker itself, so it is always what was taken.
export const GIVE_BACK = 'remaining_bytes = remaining_bytes + #markers.#marker.n'
export const REMOVE_MARKER = 'REMOVE #markers.#marker'
/** The first change since the resolver checked puts the workspace into its index; later ones leave it where it is. */
export const SCHEDULE_CHECK = 'check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard'
export const COUNT_CHANGE = 'ADD version :one'
export const MARK = '#markers.#marker = :marker'
/** Needs `:most`. */
export const HAS_PLACE = 'attribute_not_exists(#markers.#marker) AND size(#markers) < :most'

/** A change of the ledger that concerns one marker. @param count how the change is counted */
export function changeOf(
  { attemptId, releaseId }: MarkerId,
  { values, UpdateExpression, ...change }: Update & { UpdateExpression: string },
  count = COUNT_CHANGE,
): Update {
  return {
    ...change,
    UpdateExpression: `${UpdateExpression} ${count}`,
    ExpressionAttributeNames: {
      '#markers': releaseId === undefined ? 'takings' : 'releases',
      '#marker': releaseId ?? attemptId,
    },
    values: { ...values, ':one': 1 },
  }
}

/** The values of {@link SCHEDULE_CHECK}. */
export function checkValues({ workspaceId, leaseExpiresAtMs }: { workspaceId: WorkspaceId; leaseExpiresAtMs: number }) {
  return { ':due_at': leaseExpiresAtMs, ':shard': checkShardOf(workspaceId) }
}

/**
 * Retries an opening while the ledger is crowded, as long as the caller is patient. If leftovers take up the places, it
 * is also tried once, at once, with room for them.
 * @param build the write, given how many markers there may be
 * @param ifRefused whether the item is crowded, or else what to do
 */
export function whileCrowded(
  kind: 'takings' | 'releases',
  { most, leaseExpiresAtMs }: { most: number; leaseExpiresAtMs: number },
  build: (most: number) => UpdateItemCommand,
  ifRefused: (item: WorkspaceItem | undefined) => Promise<'crowded' | 'try_at_once' | 'give_up'>,
): Pick<SendOptions, 'longestPauseMs'> & RetryOptions<UpdateItemCommand> {
  let allowsLeftovers = false
  // All leases have the same length, so these began earlier.
  const isLeftover = ({ l }: TakingItem) => l < leaseExpiresAtMs - LEFTOVER_MS

  return {
    longestPauseMs: LONGEST_PAUSE_MS[kind],
    async retryOf(error) {
      if (!(error instanceof ConditionalCheckFailedException)) return undefined
      const item = error.Item && readWorkspaceItem(error.Item)
      const next = await ifRefused(item)
      if (next === 'give_up') return undefined
      if (next === 'try_at_once') return { command: build(most), isAtOnce: true }
      const leftovers = Object.values(item?.[kind] ?? {}).filter(isLeftover).length
      allowsLeftovers = leftovers > 0 && !allowsLeftovers
      return {
        command: build(allowsLeftovers ? most + Math.min(leftovers, MAX_LEFTOVERS) : most),
        isAtOnce: allowsLeftovers,
      }
    },
  }
}
