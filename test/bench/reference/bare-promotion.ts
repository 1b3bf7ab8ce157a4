import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { CopyObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'
import { takeFromRateLimit } from './take-from-rate-limit.ts'

/**
 * What a promotion is measured against: the nine calls of the plain one in the same order, written down by
 * hand, by the SDK's clients as they come, or as the product configures them; bundled as the product is. No framework, no checks, no
 * time limits, no log, no undo. It takes and gives what the product's handler does.
 */
const isTuned = process.env.BENCH_CLIENTS === 'tuned'
const dynamoDb = isTuned ? createDynamoDbClient() : new DynamoDBClient()
const s3 = isTuned ? createS3Client({ forcePathStyle: true }) : new S3Client({ forcePathStyle: true })

const WORKSPACE = 'ws_bench'
const BUCKET = 'documents'
const TARGET = `documents/${WORKSPACE}/file_16HmRr1pMNUvR8VtKc6tm/16HmRr1pMNUvR8VtKc6tm`

export async function handler(event: { pathParameters: { file_id: string } }) {
  const path = Buffer.from(event.pathParameters.file_id.slice('cfile_'.length), 'base64url').toString()
  const Key = `sandboxes/${WORKSPACE}/sess_1/${path}`
  await dynamoDb.send(
    new GetItemCommand({
      TableName: 'bench-keys',
      Key: { token_hash: { S: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' } },
      ConsistentRead: true,
    }),
  )
  const [head] = await Promise.all([
    s3.send(new HeadObjectCommand({ Bucket: 'sandboxes', Key })),
    dynamoDb.send(takeFromRateLimit()),
  ])
  await dynamoDb.send(take(head.ContentLength ?? 0))
  const opened = dynamoDb.send(open(head.ContentLength ?? 0))
  const unmarked = opened.then(() => dynamoDb.send(unmark()))
  const copied = s3.send(
    new CopyObjectCommand({
      CopySource: `sandboxes/${Key}`,
      CopySourceIfMatch: head.ETag,
      Bucket: BUCKET,
      Key: TARGET,
      MetadataDirective: 'REPLACE',
      ContentType: head.ContentType,
      TaggingDirective: 'REPLACE',
      AnnotationDirective: 'EXCLUDE',
    }),
  )
  await Promise.all([copied, opened])
  await dynamoDb.send(record(path, head.ContentLength ?? 0))
  await unmarked
  await dynamoDb.send(settle())
  return { statusCode: 200, body: '{}' }
}

const ATTEMPT = '16HmRr1pMNUvR8VtKc6tm'

const workspace = {
  TableName: 'bench-workspaces',
  Key: { workspace_id: { S: WORKSPACE } },
  ExpressionAttributeNames: { '#markers': 'takings', '#marker': ATTEMPT },
}

const take = (sizeBytes: number) =>
  new UpdateItemCommand({
    ...workspace,
    UpdateExpression:
      'SET remaining_bytes = remaining_bytes - :size_bytes, #markers.#marker = :marker, check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard ADD version :one',
    ConditionExpression:
      'remaining_bytes >= :size_bytes AND attribute_not_exists(#markers.#marker) AND size(#markers) < :most',
    ExpressionAttributeValues: {
      ':size_bytes': { N: `${sizeBytes}` },
      ':marker': { M: { n: { N: `${sizeBytes}` }, l: { N: '1795254120000' } } },
      ':most': { N: '20' },
      ':due_at': { N: '1795254120000' },
      ':shard': { S: '7' },
      ':one': { N: '1' },
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const open = (sizeBytes: number) =>
  new PutItemCommand({
    TableName: 'bench-reservations',
    Item: {
      workspace_id: { S: WORKSPACE },
      reservation_id: { S: `file_${ATTEMPT}` },
      document_id: { S: `file_${ATTEMPT}` },
      attempt_id: { S: ATTEMPT },
      purpose: { S: 'promotion' },
      size_bytes: { N: `${sizeBytes}` },
      object_key: { S: TARGET },
      lease_expires_at: { N: '1795254120000' },
    },
    ConditionExpression: 'attribute_not_exists(reservation_id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const unmark = () =>
  new UpdateItemCommand({
    ...workspace,
    UpdateExpression: 'REMOVE #markers.#marker ADD version :one',
    ConditionExpression: 'attribute_exists(#markers.#marker)',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  })

const record = (path: string, sizeBytes: number) =>
  new UpdateItemCommand({
    TableName: 'bench-documents',
    Key: { workspace_id: { S: WORKSPACE }, document_id: { S: `file_${ATTEMPT}` } },
    UpdateExpression:
      'SET record_kind = :record_kind, attempt_id = :attempt_id, object_key = :object_key, filename = :filename, mime_type = :mime_type, size_bytes = :size_bytes, created_at = :created_at, container_id = :container_id, created_by = :created_by, listed_at = :listed_at REMOVE expires_at, closed_by, closed_in',
    ConditionExpression:
      'attribute_not_exists(document_id) OR (record_kind = :tombstone AND (expires_at <= :now OR (attribute_not_exists(attempt_id) AND (attribute_not_exists(fenced_through) OR fenced_through < :attempt_id))))',
    ExpressionAttributeValues: {
      ':record_kind': { S: 'document' },
      ':attempt_id': { S: ATTEMPT },
      ':object_key': { S: TARGET },
      ':filename': { S: path },
      ':mime_type': { S: 'text/plain' },
      ':size_bytes': { N: `${sizeBytes}` },
      ':created_at': { S: '2026-11-21T09:38:35.556Z' },
      ':container_id': { S: 'sess_1' },
      ':created_by': { S: 'key_bench' },
      ':listed_at': { S: `2026-11-21T09:38:35.556Z file_${ATTEMPT}` },
      ':tombstone': { S: 'tombstone' },
      ':now': { N: '1795254000' },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const settle = () =>
  new DeleteItemCommand({
    TableName: 'bench-reservations',
    Key: { workspace_id: { S: WORKSPACE }, reservation_id: { S: `file_${ATTEMPT}` } },
    ConditionExpression: 'attempt_id = :attempt_id',
    ExpressionAttributeValues: { ':attempt_id': { S: ATTEMPT } },
  })
