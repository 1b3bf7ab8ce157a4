import { type DynamoDBClient, QueryCommand, ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { TableWorkspaces } from '../maintenance/table-workspaces.ts'
import { send } from './send.ts'

/** Greater than any id: after all rows of a workspace. */
const LAST = '\u{10FFFF}'

export function createTableWorkspaces({
  client,
  tableName: TableName,
  sortKey,
  name,
}: {
  client: DynamoDBClient
  tableName: string
  sortKey: string
  /** The port, as in the names of its calls. */
  name: 'documents' | 'reservations'
}): TableWorkspaces {
  const behind = (workspaceId: WorkspaceId) => marshall({ workspace_id: workspaceId, [sortKey]: LAST })

  const options = (method: string, signal: AbortSignal) => ({ name: `${name}.${method}`, signal })

  return {
    /**
     * A scan returns the rows of one workspace after another. After each workspace's first row, it skips to the end of
     * that workspace (AWS Database Blog, "Generate a distinct set of partition keys"). The next round finds the
     * workspaces made meanwhile.
     */
    async *listWorkspaces({ segment: Segment, totalSegments: TotalSegments, after }, signal) {
      const scan = { TableName, Segment, TotalSegments, Limit: 1, ProjectionExpression: `workspace_id, ${sortKey}` }
      let start: ScanCommandOutput['LastEvaluatedKey'] = after && behind(after)
      let lastId = after
      do {
        const command = new ScanCommand({ ...scan, ...(start && { ExclusiveStartKey: start }) })
        const { Items: [row] = [], LastEvaluatedKey }: ScanCommandOutput = await send(
          client,
          command,
          options('listWorkspaces', signal),
        )
        const workspaceId = row?.workspace_id?.S as WorkspaceId | undefined
        const isNew = workspaceId !== undefined && workspaceId !== lastId
        if (isNew) yield workspaceId
        lastId = workspaceId ?? lastId
        start = LastEvaluatedKey && (isNew ? behind(workspaceId) : LastEvaluatedKey)
      } while (start)
    },

    async hasWorkspace(workspaceId, signal) {
      const command = new QueryCommand({
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId }),
        Limit: 1,
      })
      const { Items = [] } = await send(client, command, options('hasWorkspace', signal))
      return Items.length > 0
    },
  }
}
