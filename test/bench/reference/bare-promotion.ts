import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { CopyObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createDynamoDbClient, createS3Client } from '../../../lib/aws/clients.ts'

/**
 * What a promotion is measured against: the seven calls of the plain one in the same order, written down by
 * hand, by the SDK's clients as they come, or as the product configures them; bundled as the product is. No framework, no checks, no
 * time limits, no log, no undo. It takes and gives what the product's handler does.
 */
const isTuned = process.env.BENCH_CLIENTS === 'tuned'
const dynamoDb = isTuned ? createDynamoDbClient() : new DynamoDBClient()
const s3 = isTuned ? createS3Client({ forcePathStyle: true }) : new S3Client({ forcePathStyle: true })

const WORKSPACE = 'ws_bench'
const BUCKET = 'documents'
const TARGET = `documents/${WORKSPACE}/file_016HmRr1pMNUvR8VtKc6tm/NLVcz7FXsRLZFqEoTSzoqC`

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
  await dynamoDb.send(reserve(head.ContentLength ?? 0))
  await s3.send(
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
  await dynamoDb.send(record(path, head.ContentLength ?? 0))
  await dynamoDb.send(settle())
  return { statusCode: 200, body: '{}' }
}

const takeFromRateLimit = () =>
  new UpdateItemCommand({
    TableName: 'bench-rate-limits',
    Key: { key_id: { S: 'key_bench' } },
    UpdateExpression: 'SET tat_ms = :first_tat, expires_at = :expires_at',
    ConditionExpression: 'attribute_not_exists(tat_ms) OR tat_ms <= :now',
    ExpressionAttributeValues: {
      ':now': { N: '1795254000000' },
      ':first_tat': { N: '1795254000100' },
      ':expires_at': { N: '1795340400' },
    },
    ReturnValues: 'UPDATED_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const workspace = {
  TableName: 'bench-workspaces',
  Key: { workspace_id: { S: WORKSPACE } },
  ExpressionAttributeNames: { '#document_id': 'file_016HmRr1pMNUvR8VtKc6tm' },
}

const reserve = (sizeBytes: number) =>
  new UpdateItemCommand({
    ...workspace,
    UpdateExpression:
      'SET remaining_bytes = remaining_bytes - :size_bytes, reservations.#document_id = :reservation, quota_bytes = quota_bytes ADD version :one',
    ConditionExpression:
      'remaining_bytes >= :size_bytes AND attribute_not_exists(reservations.#document_id) AND size(reservations) < :max_reservations',
    ExpressionAttributeValues: {
      ':size_bytes': { N: `${sizeBytes}` },
      ':reservation': {
        M: {
          purpose: { S: 'promotion' },
          attempt_id: { S: 'NLVcz7FXsRLZFqEoTSzoqC' },
          size_bytes: { N: `${sizeBytes}` },
          object_key: { S: TARGET },
          lease_expires_at: { N: '1795254120000' },
        },
      },
      ':max_reservations': { N: '500' },
      ':one': { N: '1' },
    },
    ReturnValues: 'UPDATED_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const record = (path: string, sizeBytes: number) =>
  new UpdateItemCommand({
    TableName: 'bench-documents',
    Key: { workspace_id: { S: WORKSPACE }, document_id: { S: 'file_016HmRr1pMNUvR8VtKc6tm' } },
    UpdateExpression:
      'SET record_kind = :record_kind, attempt_id = :attempt_id, object_key = :object_key, filename = :filename, mime_type = :mime_type, size_bytes = :size_bytes, created_at = :created_at, container_id = :container_id, created_by = :created_by REMOVE expires_at, retired_by ADD recorded_attempts :attempts',
    ConditionExpression:
      'attribute_not_exists(document_id) OR (record_kind = :tombstone AND (attribute_not_exists(fenced_attempts) OR NOT contains(fenced_attempts, :attempt_id)) AND (attribute_not_exists(recorded_attempts) OR NOT contains(recorded_attempts, :attempt_id)))',
    ExpressionAttributeValues: {
      ':record_kind': { S: 'document' },
      ':attempt_id': { S: 'NLVcz7FXsRLZFqEoTSzoqC' },
      ':object_key': { S: TARGET },
      ':filename': { S: path },
      ':mime_type': { S: 'text/plain' },
      ':size_bytes': { N: `${sizeBytes}` },
      ':created_at': { S: '2026-11-21T09:38:35.556Z' },
      ':container_id': { S: 'sess_1' },
      ':created_by': { S: 'key_bench' },
      ':tombstone': { S: 'tombstone' },
      ':attempts': { SS: ['NLVcz7FXsRLZFqEoTSzoqC'] },
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const settle = () =>
  new UpdateItemCommand({
    ...workspace,
    UpdateExpression: 'REMOVE reservations.#document_id ADD version :one',
    ConditionExpression: 'reservations.#document_id.attempt_id = :attempt_id',
    ExpressionAttributeValues: { ':attempt_id': { S: 'NLVcz7FXsRLZFqEoTSzoqC' }, ':one': { N: '1' } },
  })
