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

export function permissionChecks(config: Config, dynamoDb: DynamoDBClient, s3: S3Client): Check[] {
  const onTable = (store: string, table: string, keys: string[], ...actions: TableAction[]) => {
    const probes = tableProbes(table, keys)
    const ofActions = actions.map((each) => [`dynamodb:${each}`, probes[each]])
    return permissionCheck(store, dynamoDb, Object.fromEntries(ofActions))
  }
  const { keysTable, workspacesTable, documentsTable } = config
  const reading = ['GetItem', 'Scan', 'Query'] as const
  const changing = ['PutItem', 'UpdateItem', 'DeleteItem'] as const
  return [
    onTable('keys', keysTable, ['token_hash'], 'Scan', ...changing),
    onTable('workspaces', workspacesTable, ['workspace_id'], 'GetItem', 'Scan', ...changing),
    onTable('documents', documentsTable, ['workspace_id', 'document_id'], ...reading, 'UpdateItem', 'DeleteItem'),
    permissionCheck('objects', s3, objectProbes(config), '; s3:DeleteObject cannot be tried without leaving a mark'),
  ]
}

/** @param probes commands by action: reads of what does not exist, and writes whose condition cannot hold */
function permissionCheck(
  store: string,
  client: { send(probe: never, options: { abortSignal: AbortSignal }): Promise<unknown> },
  probes: Record<string, object>,
  untried = '',
): Check {
  return {
    name: `permissions on ${store}`,
    async run(abortSignal) {
      const denied: string[] = []
      const trials = Object.entries(probes).map(async ([action, probe]) => {
        await client.send(probe as never, { abortSignal }).catch((error) => {
          if (isDenied(error)) denied.push(action)
          else if (!isAuthorised(error)) throw error
        })
      })
      await Promise.all(trials)
      if (denied.length > 0) return problem(`these credentials lack ${denied.toSorted().join(', ')}: have them granted`)
      return `${Object.keys(probes).join(', ')}${untried}`
    },
  }
}

/** A failed condition, and a 404 of an object or upload, prove that the call was authorised. */
function isAuthorised(error: Error & { $metadata?: { httpStatusCode?: number } }): boolean {
  const isNotThere = error.$metadata?.httpStatusCode === 404 && error.name !== 'NoSuchBucket'
  return isNotThere || error instanceof ConditionalCheckFailedException
}

type TableAction = keyof ReturnType<typeof tableProbes>

function tableProbes(TableName: string, keys: string[]) {
  const [partition = ''] = keys
  // An id that does not exist, now or later.
  const Key = marshall(Object.fromEntries(keys.map((name) => [name, `doctor_${randomUUID()}`])))
  const ExpressionAttributeNames = { '#key': partition }
  const ConditionExpression = 'attribute_exists(#key) AND attribute_not_exists(#key)'
  const write = { TableName, ConditionExpression, ExpressionAttributeNames }
  const query = {
    KeyConditionExpression: '#key = :nobody',
    ExpressionAttributeNames,
    ExpressionAttributeValues: marshall({ ':nobody': 'doctor' }),
  }
  return {
    GetItem: new GetItemCommand({ TableName, Key }),
    Scan: new ScanCommand({ TableName, Limit: 1 }),
    Query: new QueryCommand({ TableName, Limit: 1, ...query }),
    PutItem: new PutItemCommand({ ...write, Item: Key }),
    UpdateItem: new UpdateItemCommand({ ...write, Key }),
    DeleteItem: new DeleteItemCommand({ ...write, Key }),
  }
}

function objectProbes({ documentsBucket: Bucket, keyTemplates }: Config) {
  const Prefix = createObjectKeys(keyTemplates).workspacesPrefix
  const object = { Bucket, Key: `${Prefix}doctor_${randomUUID()}` }
  return {
    's3:ListBucket': new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 }),
    's3:ListBucketMultipartUploads': new ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: 1 }),
    's3:GetObject': new HeadObjectCommand(object),
    's3:AbortMultipartUpload': new AbortMultipartUploadCommand({ ...object, UploadId: 'doctor' }),
  }
}
