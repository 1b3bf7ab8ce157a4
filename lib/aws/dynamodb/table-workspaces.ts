import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { TableWorkspaces } from '../../audit/ports/table-workspaces.ts'
import type { WorkspaceId } from '../../ids.ts'
import { send } from '../calls/send.ts'
import { openTable, type TableSettings } from './table.ts'

/** Greater than any id, and so after all items of a workspace. */
const LAST = '\u{10FFFF}'

export function createTableWorkspaces({
  sortKey,
  name,
  ...settings
}: TableSettings & {
  sortKey: string
  /** The port, as in the names of its calls. */
  name: 'documents' | 'reservations'
}): TableWorkspaces {
  const { client, tableName: TableName } = settings
  const table = openTable(settings)
  const behind = (workspaceId: WorkspaceId) => marshall({ workspace_id: workspaceId, [sortKey]: LAST })

  const options = (method: string, signal: AbortSignal) => ({ name: `${name}.${method}`, signal })

  return {
    /**
     * A scan returns the items of one workspace after another. After each workspace's first item, it skips to the end of
     * that workspace (AWS Database Blog, "Generate a distinct set of partition keys"). The next round finds the
     * workspaces made meanwhile.
     */
    async *listWorkspaces({ shard: Segment, totalShards: TotalSegments, after }, signal) {
      const scan = { TableName, Segment, TotalSegments, Limit: 1, ProjectionExpression: `workspace_id, ${sortKey}` }
      let start: ScanCommandOutput['LastEvaluatedKey'] = after && behind(after)
      let lastId = after
      do {
        const command = new ScanCommand({ ...scan, ...(start && { ExclusiveStartKey: start }) })
        const { Items: [item] = [], LastEvaluatedKey }: ScanCommandOutput = await send(
          client,
          command,
          options('listWorkspaces', signal),
        )
        const workspaceId = item?.workspace_id?.S as WorkspaceId | undefined
        const isNew = workspaceId !== undefined && workspaceId !== lastId
        if (isNew) yield workspaceId
        lastId = workspaceId ?? lastId
        start = LastEvaluatedKey && (isNew ? behind(workspaceId) : LastEvaluatedKey)
      } while (start)
    },

    async hasWorkspace(workspaceId, signal) {
      for await (const items of table.pagesOf(workspaceId, options('hasWorkspace', signal), { Limit: 1 })) {
        return items.length > 0
      }
      return false
    },
  }
}
