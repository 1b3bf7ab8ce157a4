import { describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { TableShard } from '../../lib/ledger/ports/ledger-maintenance.ts'
import type { Attempt } from '../../lib/ledger/ports/reservations.ts'
import { newAttempt, newWorkspaceId } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const SHARES = 4
/** Other suites use the tables, too. */
const MINE = 40

interface Harness {
  list(share: TableShard, signal: AbortSignal): AsyncIterable<WorkspaceId>
  /** Of a table with several rows of a workspace. */
  has?(workspaceId: WorkspaceId, signal: AbortSignal): Promise<boolean>
  /** Gives the workspace of an attempt a row, unless there is one row alone for each. */
  add(one: Attempt, signal: AbortSignal): Promise<unknown>
}

/**
 * Shares of the workspaces of a table, read side by side and gone on with.
 * @param make on a table that other suites may use, too
 */
export function describeShares(name: string, make: () => Harness): void {
  describe(`shares of the workspaces of ${name}`, () => {
    const read = (harness: Harness, shard: number, after?: WorkspaceId) =>
      Array.fromAsync(harness.list({ shard, totalShards: SHARES, after }, signal))

    it('are disjoint and together complete; each can be continued after any workspace', async () => {
      const harness = make()
      const ids = Array.from({ length: MINE }, newWorkspaceId)
      for (const workspaceId of ids) {
        for (let row = 0; row < 3; row++) await harness.add(newAttempt({ workspaceId }), signal)
      }
      const shares = await Promise.all(Array.from({ length: SHARES }, (_, shard) => read(harness, shard)))
      const all = shares.flat()
      expect(new Set(all).size).toBe(all.length)
      expect(all).toEqual(expect.arrayContaining(ids))
      for (const [shard, share] of shares.entries()) {
        expect(share.length).toBeGreaterThan(1)
        for (const [index, id] of share.entries()) {
          if (index % 3 === 0) expect(await read(harness, shard, id)).toEqual(share.slice(index + 1))
        }
      }
      if (harness.has) {
        expect(await harness.has(ids[0] as WorkspaceId, signal)).toBe(true)
        expect(await harness.has(newWorkspaceId(), signal)).toBe(false)
      }
    })
  })
}
