import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentMaintenance } from '../maintenance/document-maintenance.ts'
import { conditionHeld } from './conditional-write.ts'
import { documentKey, IS_ATTEMPTS_DOCUMENT, readStoredDocument } from './document-item.ts'
import { readDocumentRow } from './document-row.ts'
import { listPages } from './list-pages.ts'
import { listedAt } from './listing-index.ts'
import { send } from './send.ts'
import { readItems } from './stored-item.ts'

export function createDocumentMaintenance({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): DocumentMaintenance {
  return {
    async addToListing(document, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: documentKey(document.workspaceId, document.documentId),
        UpdateExpression: 'SET listed_at = :listed_at',
        ConditionExpression: IS_ATTEMPTS_DOCUMENT,
        ExpressionAttributeValues: marshall({
          ':document': 'document',
          ':attempt_id': document.attemptId,
          ':listed_at': listedAt(document),
        }),
      })
      await conditionHeld(send(client, command, { name: 'documents.addToListing', signal }))
    },

    async *list(workspaceId, signal, onUnreadable) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        FilterExpression: 'record_kind = :document',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId, ':document': 'document' }),
      }
      const pages = listPages((start) =>
        send(client, new QueryCommand({ ...query, ...start }), { name: 'documents.list', signal }),
      )
      for await (const items of pages) yield* readItems(items, readStoredDocument, onUnreadable)
    },

    async *listRows(workspaceId, signal, { onUnreadable, after } = {}) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId }),
        ...(after && { ExclusiveStartKey: documentKey(workspaceId, after) }),
      }
      const pages = listPages((start) =>
        send(client, new QueryCommand({ ...query, ...start }), { name: 'documents.listRows', signal }),
      )
      for await (const items of pages) yield* readItems(items, readDocumentRow, onUnreadable)
    },
  }
}
