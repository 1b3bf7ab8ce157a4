import { createHash } from 'node:crypto'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { TableSegment, TableWorkspaces } from '../../lib/maintenance/table-workspaces.ts'

const ALL = { segment: 0, totalSegments: 1 }

/** Segments by a hash, as DynamoDB has them. */
export function inSegment(ids: Iterable<WorkspaceId>, share: TableSegment = ALL): WorkspaceId[] {
  const { segment, totalSegments, after } = share
  const own = [...new Set(ids)].filter((id) => {
    return createHash('md5').update(id).digest().readUInt16BE() % totalSegments === segment
  })
  return after === undefined ? own : own.slice(own.indexOf(after) + 1)
}

export function createFakeTableWorkspaces(idsNow: () => Iterable<WorkspaceId>): TableWorkspaces {
  return {
    async *listWorkspaces(share) {
      yield* inSegment(idsNow(), share)
    },
    hasWorkspace: async (workspaceId) => [...idsNow()].includes(workspaceId),
  }
}
