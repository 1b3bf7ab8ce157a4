import { expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { TableShard } from '../../lib/ledger/ports/ledger-maintenance.ts'
import { newWorkspaceId } from '../support/stores/ledger-values.ts'

const SHARES = 4
/** Other suites use the table, too. */
const MINE = 40

/** Shares of the workspaces of a table, read side by side and gone on with. */
export function describeShares(table: {
  list(share: TableShard): AsyncIterable<WorkspaceId>
  /** Gives the workspace one item, or one more. */
  add(workspaceId: WorkspaceId): Promise<unknown>
}): void {
  it('lists workspaces in shares that are disjoint and together complete; each goes on after any of them', async () => {
    const read = (shard: number, after?: WorkspaceId) =>
      Array.fromAsync(table.list({ shard, totalShards: SHARES, after }))
    const ids = Array.from({ length: MINE }, newWorkspaceId)
    for (const id of ids) for (let times = 0; times < 3; times++) await table.add(id)
    const shares = await Promise.all(Array.from({ length: SHARES }, (_, shard) => read(shard)))
    const all = shares.flat()
    expect(new Set(all).size).toBe(all.length)
    expect(all).toEqual(expect.arrayContaining(ids))
    for (const [shard, share] of shares.entries()) {
      expect(share.length).toBeGreaterThan(1)
      for (const [index, id] of share.entries()) {
        if (index % 3 === 0) expect(await read(shard, id)).toEqual(share.slice(index + 1))
      }
    }
  })
}
