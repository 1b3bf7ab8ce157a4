import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { ServiceError } from '../errors.ts'
import type { DocumentListing, DocumentPageRequest, ListedDocument } from '../files/ports.ts'
import type { DocumentId, FilePath } from '../promotion/ids.ts'
import { callAws } from './call-aws.ts'
import type { DocumentItem } from './document-item.ts'
import { LISTING_INDEX, listedAt } from './listing-index.ts'

type ListedItem = Pick<DocumentItem, 'document_id' | 'filename' | 'mime_type' | 'size_bytes' | 'created_at'>
type Key = Record<string, AttributeValue>

const LISTED = 'document_id, filename, mime_type, size_bytes, created_at'
/** Of one BatchGetItem: DynamoDB leaves out what would be more than 16 MB, and what it throttles. */
const MAX_TRIES = 4

/** The documents of a workspace in the order of their creation, in the Documents table and its index. */
export function createDocumentListing({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): DocumentListing {
  return {
    async page(request, signal) {
      const { limit } = request
      const items: ListedDocument[] = []
      let startKey: Key | undefined
      do {
        // One more than is shown tells whether there is more.
        const Limit = limit + 1 - items.length
        const command = new QueryCommand({ ...queryOf(TableName, request), Limit, ExclusiveStartKey: startKey })
        const page: QueryCommandOutput = await callAws(signal, () => client.send(command, { abortSignal: signal }))
        for (const item of page.Items ?? []) items.push(toListed(unmarshall(item) as ListedItem))
        startKey = page.LastEvaluatedKey
      } while (startKey !== undefined && items.length <= limit)
      return { items: items.slice(0, limit), hasMore: items.length > limit }
    },

    async findAll(workspaceId, documentIds, signal) {
      const found: ListedDocument[] = []
      let keys: Key[] = documentIds.map((id) => marshall({ workspace_id: workspaceId, document_id: id }))
      for (let tries = 0; tries < MAX_TRIES && keys.length > 0; tries++) {
        const names = { ConsistentRead: true, ProjectionExpression: `${LISTED}, record_kind` }
        const command = new BatchGetItemCommand({ RequestItems: { [TableName]: { ...names, Keys: keys } } })
        const answer = await callAws(signal, () => client.send(command, { abortSignal: signal }))
        const items = (answer.Responses?.[TableName] ?? []).map((item) => unmarshall(item) as DocumentItem)
        found.push(...items.filter(({ record_kind }) => record_kind === 'document').map(toListed))
        keys = answer.UnprocessedKeys?.[TableName]?.Keys ?? []
      }
      if (keys.length > 0) throw new ServiceError('service_unavailable', { cause: new Error('keys left unprocessed') })
      return found
    },

    async positionOf(workspaceId, documentId, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId, document_id: documentId }),
        ProjectionExpression: 'created_at',
        ConsistentRead: true,
      })
      const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
      const createdAt = Item && unmarshall(Item).created_at
      // A tombstone has it when it was a document once.
      return typeof createdAt === 'string' ? { createdAt: new Date(createdAt), documentId } : undefined
    },
  }
}

function queryOf(TableName: string, { workspaceId, order, after }: DocumentPageRequest) {
  const isBehind = order === 'asc' ? 'listed_at > :after' : 'listed_at < :after'
  return {
    TableName,
    IndexName: LISTING_INDEX,
    ScanIndexForward: order === 'asc',
    KeyConditionExpression: `workspace_id = :workspace_id${after ? ` AND ${isBehind}` : ''}`,
    ProjectionExpression: LISTED,
    ExpressionAttributeValues: marshall({
      ':workspace_id': workspaceId,
      ...(after && { ':after': listedAt(after) }),
    }),
  }
}

function toListed({ document_id, filename, mime_type, size_bytes, created_at }: ListedItem): ListedDocument {
  return {
    documentId: document_id as DocumentId,
    filename: filename as FilePath,
    mimeType: mime_type,
    sizeBytes: size_bytes,
    createdAt: new Date(created_at),
  }
}
