import { createHash } from 'node:crypto'
import type { TableWorkspaces } from '../../../lib/audit/ports/table-workspaces.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { TableSegment } from '../../../lib/ledger/ports/ledger-maintenance.ts'

const ALL = { segment: 0, totalSegments: 1 }

/** Divides ids into segments by a hash, as DynamoDB does. */
export function inSegment(ids: Iterable<WorkspaceId>, part: TableSegment = ALL): WorkspaceId[] {
  const { segment, totalSegments, after } = part
  const own = [...new Set(ids)].filter((id) => {
    return createHash('md5').update(id).digest().readUInt16BE() % totalSegments === segment
  })
  return after === undefined ? own : own.slice(own.indexOf(after) + 1)
}

export function createFakeTableWorkspaces(idsNow: () => Iterable<WorkspaceId>): TableWorkspaces {
  return {
    async *listWorkspaces(segment) {
      yield* inSegment(idsNow(), segment)
    },
    hasWorkspace: async (workspaceId) => [...idsNow()].includes(workspaceId),
  }
}
