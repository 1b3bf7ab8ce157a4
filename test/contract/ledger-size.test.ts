import { describe, expect, it } from 'vitest'
import { MAX_HOLDS, MAX_REFUNDS } from '../../lib/aws/dynamodb/ledger.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { CONFIG, createMemoryTables, WORKSPACES_TABLE } from '../support/dynamodb/memory-tables.ts'
import { LEDGER_NOW_MS, newAttempt, newRefund, newWorkspaceId, signal } from '../support/stores/ledger-values.ts'
import { openTableStores } from '../support/stores/table-stores.ts'

describe.each([
  [1, MAX_HOLDS],
  [40, MAX_HOLDS],
  [41, MAX_HOLDS - 1],
  [128, MAX_HOLDS - 2],
])('the item of a workspace whose id has %i letters', (letters, most) => {
  const workspaceId = newWorkspaceId().padEnd(128, 'x').slice(-letters) as WorkspaceId
  /** By key, so that its document's id is stored. Numbers of full length: AWS rounds the size of each up. */
  const one = (number: number) => {
    const documentId = documentIdOfKey(workspaceId, `key ${number}`)
    return newAttempt({ workspaceId, documentId, sizeBytes: 5_368_709_119, leaseEndsAtMs: 1_900_000_000_001 })
  }
  const open = async () => {
    const stored = createMemoryTables({ now: () => LEDGER_NOW_MS })
    // All that it has in ordinary use; a correction by the audit adds 20 bytes.
    await stored.put(WORKSPACES_TABLE, {
      workspace_id: workspaceId,
      quota_bytes: 98_765_432_109_877,
      remaining_bytes: 87_654_321_098_767,
      documents: 12_345_678,
      version: 1_795_330_458_777,
      created_at: 1_795_330_458_777,
      per_minute: 59_999,
      expire_after: 315_359_999,
      expire_at_most: 315_359_999,
      holds: {},
      refunds: {},
    })
    const { ledger } = openTableStores({ dynamoDb: stored.client, config: CONFIG })
    return { ledger, itemBytes: () => itemSizeBytes(stored.attributes(WORKSPACES_TABLE)[0]) }
  }

  it(`stays below 1 KB with all ${most} holds that are let in`, async () => {
    const { ledger, itemBytes } = await open()
    let held = 0
    while (held < 30 && (await ledger.hold(one(held), signal, 0)).outcome === 'held') held++
    expect(held).toBe(most)
    expect(itemBytes()).toBeLessThanOrEqual(1024)
  })

  it('stays below 1 KB with all refunds', async () => {
    const { ledger, itemBytes } = await open()
    for (let refunding = 0; refunding < MAX_REFUNDS; refunding++) {
      const refund = newRefund(one(refunding), { leaseEndsAtMs: 1_900_000_000_001 })
      expect(await ledger.beginRefund(refund, signal, 0)).not.toBe('crowded')
    }
    expect(itemBytes()).toBeLessThanOrEqual(1024)
  })
})
