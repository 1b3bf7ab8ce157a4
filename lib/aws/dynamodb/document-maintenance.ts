import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentMaintenance, StoredItem } from '../../audit/ports/document-maintenance.ts'
import type { WorkspaceId } from '../../ids.ts'
import { UnreadableItemError } from '../../ledger/ports/unreadable-item.ts'
import { send } from '../calls/send.ts'
import { attemptItemKey, decodeItem } from './document-codec.ts'
import { getItem, pagesOf, type Table } from './table.ts'

/** Greater than any id, and so after all items of a workspace. */
const LAST = '\u{10FFFF}'

export function createDocumentMaintenance(table: Table): DocumentMaintenance {
  const { client, tableName: TableName } = table
  const behind = (workspaceId: WorkspaceId) => marshall({ workspace_id: workspaceId, document_id: LAST })

  return {
    async *list(workspaceId, signal, { onUnreadable, after } = {}) {
      const start = after === undefined ? {} : { after: { workspace_id: workspaceId, document_id: after } }
      const options = { name: 'documents.list', signal }
      for await (const items of pagesOf(table, { workspace_id: workspaceId }, options, start)) {
        for (const attributes of items) {
          try {
            // Audits also need tombstones that callers no longer see.
            yield { ...decodeItem(attributes), itemId: attributes.document_id?.S ?? '' } as StoredItem
          } catch (error) {
            if (onUnreadable === undefined || !(error instanceof UnreadableItemError)) throw error
            await onUnreadable(error)
          }
        }
      }
    },

    async findStray(attempt, signal) {
      const item = await getItem(table, attemptItemKey(attempt), { name: 'documents.findStray', signal })
      const found = item && decodeItem(item)
      return found?.state === 'stray' ? found : undefined
    },

    /**
     * A scan returns the items of one workspace after another. After each workspace's first item, it skips to the end of
     * that workspace (AWS Database Blog, "Generate a distinct set of partition keys"). The next round finds the
     * workspaces made meanwhile.
     */
    async *listWorkspaces({ shard: Segment, totalShards: TotalSegments, after }, signal) {
      const scan = { TableName, Segment, TotalSegments, Limit: 1, ProjectionExpression: 'workspace_id, document_id' }
      const options = { name: 'documents.listWorkspaces', signal }
      let start: ScanCommandOutput['LastEvaluatedKey'] = after && behind(after)
      let lastId = after
      do {
        const command = new ScanCommand({ ...scan, ...(start && { ExclusiveStartKey: start }) })
        const { Items: [item] = [], LastEvaluatedKey }: ScanCommandOutput = await send(client, command, options)
        const workspaceId = item?.workspace_id?.S as WorkspaceId | undefined
        const isNew = workspaceId !== undefined && workspaceId !== lastId
        if (isNew) yield workspaceId
        lastId = workspaceId ?? lastId
        start = LastEvaluatedKey && (isNew ? behind(workspaceId) : LastEvaluatedKey)
      } while (start)
    },

    async hasWorkspace(workspaceId, signal) {
      const options = { name: 'documents.hasWorkspace', signal }
      for await (const items of pagesOf(table, { workspace_id: workspaceId }, options, { Limit: 1 }))
        return items.length > 0
      return false
    },
  }
}
