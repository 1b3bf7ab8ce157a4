import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentListing, DocumentPageRequest, ListedDocument } from '../../documents/document-listing.ts'
import { hasExpired } from '../../ledger/expiry.ts'
import { send } from '../calls/send.ts'
import { decodeListed, decodePosition, documentKey, LIST_PROJECTION, listedAt } from './document-codec.ts'
import { getItem, getItems, type Table } from './table.ts'

/** Index of the Documents table by workspace_id and listed_at. Contains only documents. */
export const LISTING_INDEX = 'documents-by-creation'

/** There may be more documents that are not shown than one request has time to read. */
const MOST_PASSED_OVER = 10_000
const MOST_OF_QUERY = 1000

export function createDocumentListing(table: Table & { now(): number }): DocumentListing {
  const { client, tableName: TableName, now } = table
  return {
    async page(request, signal) {
      const { limit, containerId } = request
      const nowMs = now()
      const items: ListedDocument[] = []
      let startKey: QueryCommandOutput['LastEvaluatedKey']
      let passedOver = 0
      do {
        // One more than is shown tells whether there are more. Behind those not shown, there may be as many again.
        const Limit = Math.min(MOST_OF_QUERY, Math.max(limit + 1 - items.length, passedOver))
        const command = new QueryCommand({ ...queryOf(TableName, request), Limit, ExclusiveStartKey: startKey })
        const page: QueryCommandOutput = await send(client, command, { name: 'documents.list', signal })
        const shown = (page.Items ?? []).map(decodeListed).filter((each) => !hasExpired(each, nowMs))
        items.push(...shown)
        passedOver += (page.ScannedCount ?? 0) - shown.length
        startKey = page.LastEvaluatedKey
        // An empty page would tell nothing of a container.
        const isEnough = passedOver >= MOST_PASSED_OVER && (items.length > 0 || containerId === undefined)
        if (startKey && isEnough && items.length <= limit)
          return { items, hasMore: true, last: decodePosition(startKey) }
      } while (startKey !== undefined && items.length <= limit)
      return { items: items.slice(0, limit), hasMore: items.length > limit }
    },

    async findAll(workspaceId, documentIds, signal) {
      const keys = documentIds.map((documentId) => documentKey({ workspaceId, documentId }))
      const read = { ProjectionExpression: `${LIST_PROJECTION}, item_state` }
      const nowMs = now()
      const items = await getItems(table, keys, { name: 'documents.findAll', signal }, read)
      const documents = items.filter(({ item_state }) => item_state?.S === 'ready').map(decodeListed)
      return documents.filter((each) => !hasExpired(each, nowMs))
    },

    async positionOf(workspaceId, documentId, signal) {
      const key = documentKey({ workspaceId, documentId })
      const read = { ProjectionExpression: 'created_at' }
      const item = await getItem(table, key, { name: 'documents.find', signal }, read)
      // A tombstone has a creation time if it was once a document.
      const createdAt = item?.created_at?.S
      return createdAt === undefined ? undefined : { createdAt: new Date(createdAt), documentId }
    },
  }
}

function queryOf(TableName: string, { workspaceId, order, containerId, after }: DocumentPageRequest) {
  const isBehind = order === 'asc' ? 'listed_at > :after' : 'listed_at < :after'
  return {
    TableName,
    IndexName: LISTING_INDEX,
    ScanIndexForward: order === 'asc',
    KeyConditionExpression: `workspace_id = :workspace_id${after ? ` AND ${isBehind}` : ''}`,
    ProjectionExpression: LIST_PROJECTION,
    // The whole workspace is read: an index of its own would cost each promotion a ninth write unit.
    ...(containerId && { FilterExpression: 'container_id = :container_id' }),
    ExpressionAttributeValues: marshall({
      ':workspace_id': workspaceId,
      ...(containerId && { ':container_id': containerId }),
      ...(after && { ':after': listedAt(after) }),
    }),
  }
}
