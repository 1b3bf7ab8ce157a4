import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_RELEASES, mostTakings } from '../../lib/aws/dynamodb/ledger-update.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { documentIdOfKey } from '../../lib/promotion/idempotency.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { useStoredItems } from '../support/stores/use-stored-items.ts'

const { signal } = new AbortController()
const items = useStoredItems()

describe.each([1, 31, 36, 37, 80, 81, 128])('the item of a workspace whose id has %i letters', (letters) => {
  /** Numbers of full length: AWS rounds the size of each up. */
  const sizeBytes = 5_368_709_119
  const workspaceId = newWorkspaceId().padEnd(128, 'x').slice(-letters) as WorkspaceId
  const ledger = () => items.open().ledger
  const item = () => items.get(items.config.workspacesTable, { workspace_id: workspaceId })
  /** With all it has in ordinary use; a correction by the audit adds 20 bytes. */
  beforeEach(() =>
    items.put(
      items.config.workspacesTable,
      marshall({
        workspace_id: workspaceId,
        quota_bytes: 98_765_432_109_877,
        remaining_bytes: 87_654_321_098_767,
        takings: {},
        releases: {},
        version: 1_795_330_458_777,
        undos: 9_999_999,
        expire_after: 315_359_999,
        expire_at_most: 315_359_999,
      }),
    ),
  )

  it('stays below 1 KB with all takings that are let in', async () => {
    let taken = 0
    for (; taken < 30; taken++) {
      const one = newAttempt({ workspaceId, sizeBytes, leaseExpiresAtMs: 1_900_000_000_001 })
      if ((await ledger().take(one, signal)).outcome !== 'taken') break
    }
    expect(taken).toBe(mostTakings(workspaceId))
    expect(itemSizeBytes(await item())).toBeLessThanOrEqual(1024)
  })

  it('stays below 1 KB with all releases, of documents by Idempotency-Key', async () => {
    for (let marked = 0; marked < MAX_RELEASES; marked++) {
      const documentId = documentIdOfKey(workspaceId, `key ${marked}`)
      const one = newAttempt({ workspaceId, documentId, sizeBytes })
      const release = newRelease(one, 'deletion', { leaseExpiresAtMs: 1_900_000_000_001 })
      expect(await ledger().mark(release, signal)).not.toBe('crowded')
    }
    expect(itemSizeBytes(await item())).toBeLessThanOrEqual(1024)
  })
})
