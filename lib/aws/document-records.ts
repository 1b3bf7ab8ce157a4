import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../promotion/ids.ts'
import type { DocumentOverview, DocumentRecords, WorkspaceDocument } from '../promotion/ports.ts'
import { callAws, iterateAws } from './call-aws.ts'

/** What stands under a document id: the document, or a tombstone that keeps given-up attempts from recording it. */
type RecordItem = DocumentItem | TombstoneItem

interface DocumentItem {
  record_kind: 'document'
  workspace_id: string
  document_id: string
  attempt_id: string
  object_key: string
  filename: string
  mime_type: string
  size_bytes: number
  /** ISO 8601, UTC. */
  created_at: string
  container_id: string
  created_by: string
}

interface TombstoneItem {
  record_kind: 'tombstone'
  workspace_id: string
  document_id: string
  /** Attempts that were given up before they recorded anything. */
  fenced_attempts?: Set<string>
  /** The attempt whose document was deleted. */
  attempt_id?: string
  /** The deletion that made it out of the document. */
  retired_by?: string
  /** Seconds since 1970; DynamoDB's TTL removes the tombstone some time later. */
  expires_at: number
}

/** Far longer than an attempt's late write can take to arrive. */
const TOMBSTONE_SECONDS = 24 * 60 * 60
const IS_FREE = 'attribute_not_exists(document_id)'
const IS_TOMBSTONE = 'record_kind = :tombstone'
const IS_OBJECT_OF_DOCUMENT = 'record_kind = :document AND object_key = :object_key'
const IS_NOT_FENCED =
  '(attribute_not_exists(fenced_attempts) OR NOT contains(fenced_attempts, :attempt_id)) AND ' +
  '(attribute_not_exists(attempt_id) OR attempt_id <> :attempt_id)'

/** The documents of all workspaces, in the Documents table. */
export function createDocumentRecords({
  client,
  tableName: TableName,
  now,
}: {
  client: DynamoDBClient
  tableName: string
  now(): number
}): DocumentRecords & DocumentOverview {
  const keyOf = (workspaceId: WorkspaceId, documentId: DocumentId) =>
    marshall({ workspace_id: workspaceId, document_id: documentId })
  const read = async (workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal) => {
    const command = new GetItemCommand({ TableName, Key: keyOf(workspaceId, documentId), ConsistentRead: true })
    const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
    return Item && (unmarshall(Item) as RecordItem)
  }
  const tombstoneExpiry = () => Math.ceil(now() / 1000) + TOMBSTONE_SECONDS

  return {
    async record(document, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem(document)),
        ConditionExpression: `${IS_FREE} OR (${IS_TOMBSTONE} AND ${IS_NOT_FENCED})`,
        ExpressionAttributeValues: marshall({ ':tombstone': 'tombstone', ':attempt_id': document.attemptId }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const existing = await existingOnConflict(callAws(signal, () => client.send(command, { abortSignal: signal })))
      if (existing === undefined) return 'recorded'
      if (existing.record_kind === 'tombstone') return 'fenced'
      // Our own document is there: the SDK repeated a write that had been applied.
      return existing.attempt_id === document.attemptId ? 'recorded' : 'taken'
    },

    async fence({ workspaceId, documentId, attemptId }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId, documentId),
        UpdateExpression: 'SET record_kind = :tombstone, expires_at = :expires_at ADD fenced_attempts :attempts',
        ConditionExpression: `${IS_FREE} OR ${IS_TOMBSTONE}`,
        ExpressionAttributeValues: marshall({
          ':tombstone': 'tombstone',
          ':expires_at': tombstoneExpiry(),
          ':attempts': new Set([attemptId]),
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const existing = await existingOnConflict(callAws(signal, () => client.send(command, { abortSignal: signal })))
      // Another attempt's document fences this one as well as a tombstone does.
      return existing?.record_kind === 'document' && existing.attempt_id === attemptId ? 'recorded' : 'fenced'
    },

    async find(workspaceId, documentId, signal) {
      const item = await read(workspaceId, documentId, signal)
      return item?.record_kind === 'document' ? fromItem(item) : undefined
    },

    async isRetiredBy({ workspaceId, documentId, attemptId }, signal) {
      const item = await read(workspaceId, documentId, signal)
      return item?.record_kind === 'tombstone' && item.retired_by === attemptId
    },

    async retire({ workspaceId, documentId, attemptId, objectKey }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId, documentId),
        // attempt_id stays: it keeps a late repetition of that attempt's record from bringing the document back.
        UpdateExpression:
          'SET record_kind = :tombstone, retired_by = :retired_by, expires_at = :expires_at ' +
          'REMOVE object_key, filename, mime_type, size_bytes, created_at, container_id, created_by',
        ConditionExpression: IS_OBJECT_OF_DOCUMENT,
        ExpressionAttributeValues: marshall({
          ':tombstone': 'tombstone',
          ':retired_by': attemptId,
          ':expires_at': tombstoneExpiry(),
          ':document': 'document',
          ':object_key': objectKey,
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      try {
        await callAws(signal, () => client.send(command, { abortSignal: signal }))
        return 'retired'
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error
        const existing = error.Item && (unmarshall(error.Item) as RecordItem)
        // Our own tombstone is there: this deletion has been here before.
        return existing?.record_kind === 'tombstone' && existing.retired_by === attemptId ? 'retired' : 'absent'
      }
    },

    async *list(workspaceId, signal) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        FilterExpression: 'record_kind = :document',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId, ':document': 'document' }),
      }
      for await (const { Items = [] } of iterateAws(
        signal,
        paginateQuery({ client }, query, { abortSignal: signal }),
      )) {
        for (const item of Items) yield fromItem(unmarshall(item) as DocumentItem)
      }
    },
  }
}

/** undefined when the write was done; what stood in its way when its condition failed. */
async function existingOnConflict(write: Promise<unknown>): Promise<RecordItem | undefined> {
  try {
    await write
    return undefined
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error
    return unmarshall(error.Item) as RecordItem
  }
}

function toItem(document: WorkspaceDocument): DocumentItem {
  return {
    record_kind: 'document',
    workspace_id: document.workspaceId,
    document_id: document.documentId,
    attempt_id: document.attemptId,
    object_key: document.objectKey,
    filename: document.filename,
    mime_type: document.mimeType,
    size_bytes: document.sizeBytes,
    created_at: document.createdAt.toISOString(),
    container_id: document.containerId,
    created_by: document.createdBy,
  }
}

function fromItem(item: DocumentItem): WorkspaceDocument {
  return {
    workspaceId: item.workspace_id as WorkspaceId,
    documentId: item.document_id as DocumentId,
    attemptId: item.attempt_id as AttemptId,
    objectKey: item.object_key,
    filename: item.filename as FilePath,
    mimeType: item.mime_type,
    sizeBytes: item.size_bytes,
    createdAt: new Date(item.created_at),
    containerId: item.container_id as ContainerId,
    createdBy: item.created_by,
  }
}
