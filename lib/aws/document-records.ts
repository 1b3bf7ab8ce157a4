import {
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { DocumentOfAttempt, DocumentRecords } from '../promotion/document-records.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import {
  documentKey,
  IS_ATTEMPTS_DOCUMENT,
  type RecordItem,
  readDeleted,
  readDocument,
  readRecord,
  tombstoneExpiresAt,
  toUpdate,
} from './document-item.ts'
import { OPENING, type SendOptions, send } from './send.ts'
import type { Attributes } from './stored-item.ts'

/** As long as the request lives. */
const CLOSING = { patienceMs: 60_000 }

const IS_FREE = 'attribute_not_exists(document_id)'
const IS_THERE = 'attribute_exists(document_id)'
const IS_TOMBSTONE = 'record_kind = :tombstone'
/** DynamoDB's TTL removes it some time later. */
const IS_EXPIRED = 'expires_at <= :now'
const WAS_NO_DOCUMENT = 'attribute_not_exists(attempt_id)'
const IS_NOT_FENCED = '(attribute_not_exists(fenced_through) OR fenced_through < :attempt_id)'
const IS_NOT_OWN = '(attribute_not_exists(attempt_id) OR attempt_id <> :attempt_id)'
const IS_RECORDABLE = `${IS_FREE} OR (${IS_TOMBSTONE} AND (${IS_EXPIRED} OR (${WAS_NO_DOCUMENT} AND ${IS_NOT_FENCED})))`
/** Its document was deleted, and its bytes are not given back yet. */
const IS_UNFINISHED = `(${IS_TOMBSTONE} AND attempt_id = :attempt_id AND attribute_not_exists(expires_at))`
const REMOVE_REMAINS = 'REMOVE attempt_id, object_key, created_at, size_bytes, counted_from, closed_by, closed_in'

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
  const nowValue = () => ({ ':now': Math.floor(now() / 1000) })

  return {
    async record(document, signal) {
      const { assignments, values } = toUpdate(document)
      const { existing } = await update(
        document,
        { name: 'documents.record', signal, ...OPENING },
        {
          UpdateExpression: `SET ${assignments} REMOVE expires_at, closed_by, closed_in`,
          ConditionExpression: IS_RECORDABLE,
          values: { ...values, ...TOMBSTONE, ...nowValue() },
        },
      )
      if (existing === undefined) return 'recorded'
      return existing.attempt_id === undefined ? 'fenced' : 'taken'
    },

    async fence(attempt, signal) {
      const options = { name: 'documents.fence', signal, ...CLOSING }
      const fenced = { ':attempt_id': attempt.attemptId }
      const { existing: inTheWay } = await update(attempt, options, {
        UpdateExpression: `SET record_kind = :tombstone, expires_at = :expires_at, fenced_through = :attempt_id ${REMOVE_REMAINS}`,
        ConditionExpression: IS_RECORDABLE,
        values: { ...fenced, ...TOMBSTONE, ...nowValue(), ':expires_at': tombstoneExpiresAt(now()) },
      })
      if (inTheWay === undefined) return 'fenced'
      // A document, or what is left of a deleted one, keeps this attempt out only while it is there.
      const { existing } = await update(attempt, options, {
        UpdateExpression: 'SET fenced_through = :attempt_id',
        ConditionExpression: `${IS_THERE} AND ${IS_NOT_FENCED} AND ${IS_NOT_OWN}`,
        values: fenced,
      })
      return existing?.attempt_id === attempt.attemptId ? 'recorded' : 'fenced'
    },

    async find(workspaceId, documentId, signal) {
      const item = await read(workspaceId, documentId, signal)
      return item?.record_kind?.S === 'document' ? readDocument(item) : undefined
    },

    async findEvenDeleted(workspaceId, documentId, signal) {
      const item = await read(workspaceId, documentId, signal)
      if (item === undefined || item.record_kind?.S === 'document') return item && readDocument(item)
      return readDeleted(item, now())
    },

    async retire(document, signal) {
      const { output } = await update(
        document,
        { name: 'documents.retire', signal, ...CLOSING },
        {
          UpdateExpression:
            'SET record_kind = :tombstone REMOVE filename, mime_type, listed_at, container_id, created_by',
          ConditionExpression: `${IS_ATTEMPTS_DOCUMENT} OR ${IS_UNFINISHED}`,
          values: { ...TOMBSTONE, ':document': 'document', ':attempt_id': document.attemptId },
          ReturnValues: 'ALL_NEW',
        },
      )
      return output && { closedBy: output.closed_by as ReleaseId | undefined }
    },

    async close(release, signal) {
      const { existing } = await update(
        release,
        { name: 'documents.close', signal, ...CLOSING },
        {
          UpdateExpression: 'SET closed_by = :release_id, closed_in = :version',
          ConditionExpression: `${IS_UNFINISHED} AND attribute_not_exists(closed_by)`,
          values: {
            ...TOMBSTONE,
            ':attempt_id': release.attemptId,
            ':release_id': release.releaseId,
            ':version': release.markedIn,
          },
        },
      )
      if (existing === undefined) return release.releaseId
      const isUnfinished = existing.record_kind === 'tombstone' && existing.expires_at === undefined
      if (!isUnfinished || existing.attempt_id !== release.attemptId) return undefined
      return existing.closed_by as ReleaseId | undefined
    },

    async finish(release, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: documentKey(release.workspaceId, release.documentId),
        UpdateExpression: 'SET expires_at = :expires_at',
        ConditionExpression: 'closed_by = :release_id',
        ExpressionAttributeValues: marshall({
          ':release_id': release.releaseId,
          ':expires_at': tombstoneExpiresAt(now()),
        }),
      })
      await conditionHeld(send(client, command, { name: 'documents.finish', signal, ...CLOSING }))
    },
  }

  async function read(
    workspaceId: WorkspaceId,
    documentId: DocumentId,
    signal: AbortSignal,
  ): Promise<Attributes | undefined> {
    const command = new GetItemCommand({ TableName, Key: documentKey(workspaceId, documentId), ConsistentRead: true })
    return (await send(client, command, { name: 'documents.find', signal })).Item
  }

  /** @returns what stood in the way, or the item after the write if it is asked for */
  async function update(
    { workspaceId, documentId }: Pick<DocumentOfAttempt, 'workspaceId' | 'documentId'>,
    options: SendOptions,
    { values, ...expressions }: Partial<UpdateItemCommandInput> & { values: object },
  ): Promise<{ existing?: RecordItem; output?: RecordItem | undefined }> {
    const command = new UpdateItemCommand({
      TableName,
      Key: documentKey(workspaceId, documentId),
      ...expressions,
      ExpressionAttributeValues: marshall(values),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    const write = await conditionally(send(client, command, options))
    // Without an item, DynamoDB has removed what was there.
    if (!write.held) return { existing: write.item ? readRecord(write.item) : ({} as RecordItem) }
    return { output: write.output.Attributes && readRecord(write.output.Attributes) }
  }
}
