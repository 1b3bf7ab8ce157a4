import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { takeFromRateLimit } from './take-from-rate-limit.ts'

/**
 * What the operations around the promotion are measured against: their calls in the same order, written down by hand, by the
 * SDK's clients as they come; bundled as the product is. No framework, no checks, no time limits, no log, no body.
 */
const dynamoDb = new DynamoDBClient()
const s3 = new S3Client({ forcePathStyle: true })

const WORKSPACE = 'ws_bench'
const ATTEMPT = '16HmRr1pMNUvR8VtKc6tm'
const RELEASE = '16HmRr1pMNUvR8VtKc6tn'
const DOCUMENT = `file_${ATTEMPT}`
const Bucket = 'documents'
const LIST_LIMIT = 101

interface Event {
  httpMethod: string
  resource: string
}

const OPERATIONS: Readonly<Record<string, () => Promise<void>>> = {
  'GET /v1/files': list,
  'GET /v1/files/{document_id}': retrieve,
  'GET /v1/files/{document_id}/content': download,
  'DELETE /v1/files/{document_id}': remove,
}

export async function handler({ httpMethod, resource }: Event) {
  await dynamoDb.send(
    new GetItemCommand({
      TableName: 'bench-keys',
      Key: { token_hash: { S: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' } },
      ConsistentRead: true,
    }),
  )
  await OPERATIONS[`${httpMethod} ${resource}`]?.()
  return { statusCode: 200, body: '{}' }
}

const limitRate = () => dynamoDb.send(takeFromRateLimit())

async function list(): Promise<void> {
  const query = new QueryCommand({
    TableName: 'bench-documents',
    IndexName: 'documents-by-creation',
    ScanIndexForward: true,
    KeyConditionExpression: 'workspace_id = :workspace_id',
    ProjectionExpression: 'document_id, filename, mime_type, size_bytes, created_at',
    ExpressionAttributeValues: { ':workspace_id': { S: WORKSPACE } },
    Limit: LIST_LIMIT,
  })
  const usage = new GetItemCommand({
    TableName: 'bench-workspaces',
    Key: { workspace_id: { S: WORKSPACE } },
    ProjectionExpression: 'workspace_id, quota_bytes, remaining_bytes',
  })
  await Promise.all([limitRate(), dynamoDb.send(query), dynamoDb.send(usage)])
}

async function retrieve(): Promise<void> {
  await Promise.all([limitRate(), find('bench-documents', 'document_id')])
}

async function download(): Promise<void> {
  const limited = limitRate()
  const { Item } = await find('bench-documents', 'document_id')
  const Key = Item?.object_key?.S
  await s3.send(new HeadObjectCommand({ Bucket, Key }))
  const content = new GetObjectCommand({
    Bucket,
    Key,
    ResponseContentType: Item?.mime_type?.S,
    ResponseContentDisposition: `attachment; filename="report.csv"; filename*=UTF-8''report.csv`,
    ResponseCacheControl: 'private, no-store',
  })
  await getSignedUrl(s3, content, { expiresIn: 120 })
  await limited
}

async function remove(): Promise<void> {
  await limitRate()
  const { Item } = await find('bench-documents', 'document_id')
  await find('bench-reservations', 'reservation_id')
  const Key = Item?.object_key?.S
  await dynamoDb.send(note(Key ?? ''))
  await dynamoDb.send(schedule())
  await dynamoDb.send(retire())
  await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }))
  await s3.send(new DeleteObjectCommand({ Bucket, Key }))
  await dynamoDb.send(mark())
  await dynamoDb.send(closeTombstone())
  await dynamoDb.send(release())
  await dynamoDb.send(finish())
  await dynamoDb.send(removeNote())
}

const find = (TableName: string, sortKey: string) =>
  dynamoDb.send(
    new GetItemCommand({
      TableName,
      Key: { workspace_id: { S: WORKSPACE }, [sortKey]: { S: DOCUMENT } },
      ConsistentRead: true,
    }),
  )

const S = (value: string) => ({ S: value })
const N = (value: number) => ({ N: `${value}` })
const LEASE = N(1_795_254_120_000)
const NOTE = { workspace_id: S(WORKSPACE), reservation_id: S(`deletion_${ATTEMPT}`) }

const note = (objectKey: string) =>
  new PutItemCommand({
    TableName: 'bench-reservations',
    Item: {
      ...NOTE,
      document_id: S(DOCUMENT),
      attempt_id: S(ATTEMPT),
      purpose: S('deletion'),
      size_bytes: N(8763),
      object_key: S(objectKey),
      lease_expires_at: LEASE,
    },
  })

const removeNote = () =>
  new DeleteItemCommand({
    TableName: 'bench-reservations',
    Key: NOTE,
    ConditionExpression: 'attempt_id = :attempt_id',
    ExpressionAttributeValues: { ':attempt_id': S(ATTEMPT) },
  })

type Update = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>

const updateWorkspace = (update: Update) =>
  new UpdateItemCommand({ TableName: 'bench-workspaces', Key: { workspace_id: S(WORKSPACE) }, ...update })

const schedule = () =>
  updateWorkspace({
    UpdateExpression: 'SET check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard ADD version :one',
    ConditionExpression: 'attribute_exists(workspace_id)',
    ExpressionAttributeValues: { ':due_at': LEASE, ':shard': S('7'), ':one': N(1) },
  })

const ITS_MARKER = { '#markers': 'releases', '#marker': RELEASE }

const mark = () =>
  updateWorkspace({
    ExpressionAttributeNames: ITS_MARKER,
    UpdateExpression:
      'SET #markers.#marker = :marker, check_due_at = if_not_exists(check_due_at, :due_at), check_shard = :shard ADD version :one',
    ConditionExpression: 'attribute_not_exists(#markers.#marker) AND size(#markers) < :most',
    ExpressionAttributeValues: {
      ':marker': { M: { n: N(8763), l: LEASE, p: S('d'), a: S(ATTEMPT) } },
      ':most': N(8),
      ':due_at': LEASE,
      ':shard': S('7'),
      ':one': N(1),
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const release = () =>
  updateWorkspace({
    ExpressionAttributeNames: ITS_MARKER,
    UpdateExpression:
      'SET remaining_bytes = remaining_bytes + #markers.#marker.n REMOVE #markers.#marker ADD version :one, undos :one',
    ConditionExpression: 'attribute_exists(#markers.#marker)',
    ExpressionAttributeValues: { ':one': N(1) },
    ReturnValues: 'ALL_NEW',
  })

const IS_UNFINISHED = '(record_kind = :tombstone AND attempt_id = :attempt_id AND attribute_not_exists(expires_at))'
const TOMBSTONE = { ':tombstone': S('tombstone'), ':attempt_id': S(ATTEMPT) }

const updateDocument = (update: Update) =>
  new UpdateItemCommand({
    TableName: 'bench-documents',
    Key: { workspace_id: S(WORKSPACE), document_id: S(DOCUMENT) },
    ...update,
  })

const retire = () =>
  updateDocument({
    UpdateExpression: 'SET record_kind = :tombstone REMOVE filename, mime_type, listed_at, container_id, created_by',
    ConditionExpression: `(record_kind = :document AND attempt_id = :attempt_id) OR ${IS_UNFINISHED}`,
    ExpressionAttributeValues: { ...TOMBSTONE, ':document': S('document') },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const closeTombstone = () =>
  updateDocument({
    UpdateExpression: 'SET closed_by = :release_id, closed_in = :version',
    ConditionExpression: `${IS_UNFINISHED} AND attribute_not_exists(closed_by)`,
    ExpressionAttributeValues: { ...TOMBSTONE, ':release_id': S(RELEASE), ':version': N(1_795_254_120_001) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })

const finish = () =>
  updateDocument({
    UpdateExpression: 'SET expires_at = :expires_at',
    ConditionExpression: 'closed_by = :release_id',
    ExpressionAttributeValues: { ':release_id': S(RELEASE), ':expires_at': N(1_795_340_400) },
  })
