import { createHash } from 'node:crypto'
import type { TableWorkspaces } from '../../../lib/audit/ports/table-workspaces.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { TableShard } from '../../../lib/ledger/ports/ledger-maintenance.ts'

const ALL = { shard: 0, totalShards: 1 }

/** Divides ids into shards by a hash, as DynamoDB does. */
export function inShard(ids: Iterable<WorkspaceId>, part: TableShard = ALL): WorkspaceId[] {
  const { shard, totalShards, after } = part
  const own = [...new Set(ids)].filter((id) => {
    return createHash('md5').update(id).digest().readUInt16BE() % totalShards === shard
  })
  return after === undefined ? own : own.slice(own.indexOf(after) + 1)
}

export function createFakeTableWorkspaces(idsNow: () => Iterable<WorkspaceId>): TableWorkspaces {
  return {
    async *listWorkspaces(shard) {
      yield* inShard(idsNow(), shard)
    },
    hasWorkspace: async (workspaceId) => [...idsNow()].includes(workspaceId),
  }
}
