import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { DocumentId, WorkspaceId } from '../promotion/ids.ts'
import type { DocumentOverview, DocumentRecords, Reservation } from '../promotion/ports.ts'
import { callAws, iterateAws } from './call-aws.ts'
import { type DocumentItem, fromItem, type RecordItem, toUpdate } from './document-item.ts'

/** Far longer than an attempt's late write can take to arrive. */
const TOMBSTONE_SECONDS = 24 * 60 * 60
const IS_FREE = 'attribute_not_exists(document_id)'
const IS_TOMBSTONE = 'record_kind = :tombstone'
const IS_OBJECT_OF_DOCUMENT = 'record_kind = :document AND object_key = :object_key'
const IS_NOT_FENCED = '(attribute_not_exists(fenced_attempts) OR NOT contains(fenced_attempts, :attempt_id))'
const IS_NOT_RECORDED = '(attribute_not_exists(recorded_attempts) OR NOT contains(recorded_attempts, :attempt_id))'
/** One is enough unless others write the same record in between. */
const MAX_TRIES = 3

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
  /** @returns what stood in the way */
  const fenceWhere = (
    ConditionExpression: string,
    UpdateExpression: string,
    values: object,
    { workspaceId, documentId, attemptId }: Reservation,
    signal: AbortSignal,
  ) => {
    const command = new UpdateItemCommand({
      TableName,
      Key: keyOf(workspaceId, documentId),
      UpdateExpression,
      ConditionExpression,
      ExpressionAttributeValues: marshall({ ...values, ':attempts': new Set([attemptId]) }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    return existingOnConflict(callAws(signal, () => client.send(command, { abortSignal: signal })))
  }
  const tombstoneExpiry = () => Math.ceil(now() / 1000) + TOMBSTONE_SECONDS

  return {
    async record(document, signal) {
      const { keys, values, assignments } = toUpdate(document)
      const command = new UpdateItemCommand({
        TableName,
        Key: marshall(keys),
        // The attempts that were fenced, or recorded before, stay noted: none of them may ever record (again).
        UpdateExpression: `SET ${assignments} REMOVE expires_at, retired_by ADD recorded_attempts :attempts`,
        ConditionExpression: `${IS_FREE} OR (${IS_TOMBSTONE} AND ${IS_NOT_FENCED} AND ${IS_NOT_RECORDED})`,
        ExpressionAttributeValues: marshall({
          ...values,
          ':tombstone': 'tombstone',
          ':attempts': new Set([document.attemptId]),
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const existing = await existingOnConflict(callAws(signal, () => client.send(command, { abortSignal: signal })))
      if (existing === undefined) return 'recorded'
      if (existing.record_kind === 'tombstone') return 'fenced'
      // Our own document is there: the SDK repeated a write that had been applied.
      return existing.attempt_id === document.attemptId ? 'recorded' : 'taken'
    },

    async fence(attempt, signal) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const existing = await fenceWhere(
          `${IS_FREE} OR ${IS_TOMBSTONE}`,
          'SET record_kind = :tombstone, expires_at = :expires_at ADD fenced_attempts :attempts',
          { ':tombstone': 'tombstone', ':expires_at': tombstoneExpiry() },
          attempt,
          signal,
        )
        if (existing === undefined) return 'fenced'
        if (existing.record_kind === 'document' && existing.attempt_id === attempt.attemptId) return 'recorded'
        // Another attempt's document: it keeps this one out only as long as it is there.
        const values = { ':document': 'document', ':attempt_id': attempt.attemptId }
        const isOthers = 'record_kind = :document AND attempt_id <> :attempt_id'
        const vanished = await fenceWhere(isOthers, 'ADD fenced_attempts :attempts', values, attempt, signal)
        if (vanished === undefined) return 'fenced'
      }
      throw new Error('the record changed under every try to fence an attempt')
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
        UpdateExpression:
          'SET record_kind = :tombstone, retired_by = :retired_by, expires_at = :expires_at ' +
          'REMOVE attempt_id, object_key, filename, mime_type, size_bytes, listed_at, container_id, created_by',
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
