import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DeletionEnd, DocumentRecords, RetiredDocument } from '../promotion/document-records.ts'
import type { Reservation } from '../promotion/reservations.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import {
  documentKey,
  IS_ATTEMPTS_DOCUMENT,
  type RecordItem,
  readDocument,
  readRecord,
  tombstoneExpiresAt,
  toUpdate,
} from './document-item.ts'
import { howItWasCounted } from './document-row.ts'
import { type FormerItem, formerItemsWith, readFormer } from './former-documents.ts'
import { OPENING, type SendOptions, send } from './send.ts'

/** As long as the request lives. */
const CLOSING_PATIENCE_MS = 60_000

const IS_FREE = 'attribute_not_exists(document_id)'
const IS_THERE = 'attribute_exists(document_id)'
const IS_TOMBSTONE = 'record_kind = :tombstone'
/** No deletion still needs it to prove that bytes are its own to give back. */
const IS_FINISHED = 'attribute_exists(expires_at)'
const IS_NOT_FENCED = '(attribute_not_exists(fenced_through) OR fenced_through < :attempt_id)'
const IS_NOT_OWN = '(attribute_not_exists(attempt_id) OR attempt_id <> :attempt_id)'
/** Attempts that record under one id have rising attempt ids: that reveals an old one that arrives late. */
const IS_NEWER = '(attribute_not_exists(attempt_id) OR attempt_id < :attempt_id)'
const IS_RECORDABLE = `${IS_FREE} OR (${IS_TOMBSTONE} AND ${IS_FINISHED} AND ${IS_NOT_FENCED} AND ${IS_NEWER})`
const IS_RETIRED_BY = 'retired_by = :release_id'

const TOMBSTONE = { ':tombstone': 'tombstone' }

/** The conditions are the protocol's (docs/reliability.md). */
export function createDocumentRecords({
  client,
  tableName: TableName,
  now,
}: {
  client: DynamoDBClient
  tableName: string
  now(): number
}): DocumentRecords {
  return {
    async record(document, signal) {
      const { assignments, values } = toUpdate(document)
      const existing = await update(
        document,
        { name: 'documents.record', signal, ...OPENING },
        {
          UpdateExpression: `SET ${assignments} REMOVE expires_at, retired_by`,
          ConditionExpression: IS_RECORDABLE,
          values: { ...values, ...TOMBSTONE },
        },
      )
      if (existing === undefined) return 'recorded'
      return existing.record_kind === 'tombstone' ? 'fenced' : 'taken'
    },

    async fence(attempt, signal) {
      const closing = { name: 'documents.fence', signal, patienceMs: CLOSING_PATIENCE_MS }
      const fenced = { ':attempt_id': attempt.attemptId }
      const inTheWay = await update(attempt, closing, {
        UpdateExpression: 'SET record_kind = :tombstone, expires_at = :expires_at, fenced_through = :attempt_id',
        ConditionExpression: IS_RECORDABLE,
        values: { ...fenced, ...TOMBSTONE, ':expires_at': tombstoneExpiresAt(now()) },
      })
      if (inTheWay === undefined) return 'fenced'
      // Another attempt's document, or one being deleted, keeps this attempt out only while it exists.
      const existing = await update(attempt, closing, {
        UpdateExpression: 'SET fenced_through = :attempt_id',
        ConditionExpression: `${IS_THERE} AND ${IS_NOT_FENCED} AND ${IS_NOT_OWN}`,
        values: fenced,
      })
      return existing?.attempt_id === attempt.attemptId ? 'recorded' : 'fenced'
    },

    async find(workspaceId, documentId, signal) {
      const command = new GetItemCommand({ TableName, Key: documentKey(workspaceId, documentId), ConsistentRead: true })
      const { Item } = await send(client, command, { name: 'documents.find', signal })
      return Item?.record_kind?.S === 'document' ? readDocument(Item) : undefined
    },

    async retire({ workspaceId, documentId, attemptId, releaseId }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: documentKey(workspaceId, documentId),
        UpdateExpression:
          'SET record_kind = :tombstone, retired_by = :release_id ' +
          'REMOVE filename, mime_type, listed_at, container_id, created_by',
        ConditionExpression: `${IS_ATTEMPTS_DOCUMENT} OR ${IS_RETIRED_BY}`,
        ExpressionAttributeValues: marshall({
          ...TOMBSTONE,
          ':document': 'document',
          ':attempt_id': attemptId,
          ':release_id': releaseId,
        }),
        ReturnValues: 'ALL_NEW',
      })
      const write = await conditionally(
        send(client, command, { name: 'documents.retire', signal, patienceMs: CLOSING_PATIENCE_MS }),
      )
      return write.held ? toRetired(readRecord(write.output.Attributes ?? {})) : undefined
    },

    async finish({ workspaceId, documentId, releaseId }, signal, ended) {
      const former = ended && formerOf(ended, now())
      const command = new UpdateItemCommand({
        TableName,
        Key: documentKey(workspaceId, documentId),
        UpdateExpression: `SET expires_at = :expires_at${former ? ', former = :former' : ''}`,
        ConditionExpression: IS_RETIRED_BY,
        ExpressionAttributeValues: marshall({
          ':release_id': releaseId,
          ':expires_at': tombstoneExpiresAt(now()),
          ...(former && { ':former': former }),
        }),
      })
      await conditionHeld(send(client, command, { name: 'documents.finish', signal, patienceMs: CLOSING_PATIENCE_MS }))
    },
  }

  /** @returns what stood in the way; undefined when the write was done */
  async function update(
    { workspaceId, documentId }: Pick<Reservation, 'workspaceId' | 'documentId'>,
    options: SendOptions,
    { values, ...expressions }: { UpdateExpression: string; ConditionExpression: string; values: object },
  ): Promise<RecordItem | undefined> {
    const command = new UpdateItemCommand({
      TableName,
      Key: documentKey(workspaceId, documentId),
      ...expressions,
      ExpressionAttributeValues: marshall(values),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    const write = await conditionally(send(client, command, options))
    return write.held ? undefined : readRecord(write.item ?? {})
  }
}

function toRetired(item: RecordItem): RetiredDocument {
  return { objectKey: item.object_key ?? '', counted: howItWasCounted(item), former: readFormer(item.former) }
}

/** @returns undefined when an older release retired the document and did not say how it was counted */
function formerOf(
  { retired: { counted, former }, countedThrough }: DeletionEnd,
  finishedAtMs: number,
): Record<string, FormerItem> | undefined {
  return counted && formerItemsWith(former, { ...counted, countedThrough, finishedAtMs })
}
