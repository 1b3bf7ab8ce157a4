import { randomUUID } from 'node:crypto'
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import {
  AbortMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Config } from '../../../lib/config.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { type Check, isDenied, problem } from './check.ts'

/** Tests an action without changing anything. */
type Probe = (abortSignal: AbortSignal) => Promise<unknown>

/** Tests every permission that the command line needs. */
export function permissionChecks(config: Config, dynamoDb: DynamoDBClient, s3: S3Client): Check[] {
  const keys = tableProbes(config.keysTable, ['token_hash'], dynamoDb)
  const workspaces = tableProbes(config.workspacesTable, ['workspace_id'], dynamoDb)
  const reservations = tableProbes(config.reservationsTable, ['workspace_id', 'reservation_id'], dynamoDb)
  const documents = tableProbes(config.documentsTable, ['workspace_id', 'document_id'], dynamoDb)
  return [
    permissionCheck('keys', pick(keys, ['Scan', 'PutItem', 'UpdateItem', 'DeleteItem'])),
    permissionCheck('workspaces', pick(workspaces, ['GetItem', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem'])),
    permissionCheck('reservations', pick(reservations, Object.keys(reservations))),
    permissionCheck('documents', pick(documents, ['GetItem', 'Scan', 'Query', 'UpdateItem'])),
    permissionCheck('objects', objectProbes(config, s3), '; s3:DeleteObject cannot be tried without leaving a mark'),
  ]
}

function permissionCheck(store: string, probes: Record<string, Probe>, untried = ''): Check {
  return {
    name: `permissions on ${store}`,
    async look(signal) {
      const denied: string[] = []
      await Promise.all(
        Object.entries(probes).map(async ([action, probe]) => {
          try {
            await probe(signal)
          } catch (error) {
            if (!isDenied(error)) throw error
            denied.push(action)
          }
        }),
      )
      if (denied.length > 0) return problem(`these credentials lack ${denied.toSorted().join(', ')}: have them granted`)
      return `${Object.keys(probes).join(', ')}${untried}`
    },
  }
}

/** By action. Reads of what is not there, and writes on a condition that cannot hold. */
function tableProbes(TableName: string, keys: string[], client: DynamoDBClient) {
  const [partition = ''] = keys
  // An id that does not exist, now or later.
  const key = marshall(Object.fromEntries(keys.map((name) => [name, `doctor_${randomUUID()}`])))
  const names = { '#key': partition }
  const never = {
    ConditionExpression: 'attribute_exists(#key) AND attribute_not_exists(#key)',
    ExpressionAttributeNames: names,
  }
  const query = {
    KeyConditionExpression: '#key = :nobody',
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: marshall({ ':nobody': 'doctor' }),
  }
  return {
    GetItem: (abortSignal) => client.send(new GetItemCommand({ TableName, Key: key }), { abortSignal }),
    Scan: (abortSignal) => client.send(new ScanCommand({ TableName, Limit: 1 }), { abortSignal }),
    Query: (abortSignal) => client.send(new QueryCommand({ TableName, Limit: 1, ...query }), { abortSignal }),
    PutItem: (abortSignal) =>
      refusedByCondition(client.send(new PutItemCommand({ TableName, Item: key, ...never }), { abortSignal })),
    UpdateItem: (abortSignal) =>
      refusedByCondition(client.send(new UpdateItemCommand({ TableName, Key: key, ...never }), { abortSignal })),
    DeleteItem: (abortSignal) =>
      refusedByCondition(client.send(new DeleteItemCommand({ TableName, Key: key, ...never }), { abortSignal })),
  } satisfies Record<string, Probe>
}

function pick(probes: Record<string, Probe>, actions: string[]): Record<string, Probe> {
  const chosen = Object.entries(probes).filter(([action]) => actions.includes(action))
  return Object.fromEntries(chosen.map(([action, probe]) => [`dynamodb:${action}`, probe]))
}

function objectProbes(config: Config, client: S3Client): Record<string, Probe> {
  const { documentsBucket: Bucket, keyTemplates } = config
  const Prefix = createObjectKeys(keyTemplates).workspacesPrefix
  const Key = `${Prefix}doctor_${randomUUID()}`
  return {
    's3:ListBucket': (abortSignal) =>
      client.send(new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 }), { abortSignal }),
    's3:ListBucketMultipartUploads': (abortSignal) =>
      client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: 1 }), { abortSignal }),
    's3:GetObject': (abortSignal) => notThere(client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal })),
    's3:AbortMultipartUpload': (abortSignal) =>
      notThere(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: 'doctor' }), { abortSignal })),
  }
}

/** A failed condition proves that the write was authorised. */
async function refusedByCondition(write: Promise<unknown>): Promise<void> {
  await write.catch((error) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error
  })
}

/** A 404 proves that the call was authorised. */
async function notThere(call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (error.$metadata?.httpStatusCode !== 404) throw error
  })
}
