import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { CopyObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type { SeenCall } from '../simulator/main.ts'

export interface BareCall extends SeenCall {
  /** Names of the calls whose answers it waits for. */
  waitsFor: readonly string[]
}

const dynamoDb = new DynamoDBClient({})
const s3 = new S3Client({ forcePathStyle: true })
const sends = (JSON.parse(process.env.BARE_CALLS ?? '[]') as BareCall[]).map((call) => ({
  ...call,
  send: sendOf(call),
}))

/** The calls of a promotion as the product was seen to send them, each once those that it waits for are answered. */
export async function handler() {
  const sent = new Map<string, Promise<unknown>>()
  for (const { name, waitsFor, send } of sends) {
    sent.set(name, Promise.all(waitsFor.map((other) => sent.get(other))).then(send))
  }
  await Promise.all(sent.values())
  return { statusCode: 200, headers: {}, body: '{}' }
}

function sendOf({ name, path, headers, body }: SeenCall): () => Promise<unknown> {
  const [, Bucket, ...key] = path.replace(/\?.*/, '').split('/')
  const object = { Bucket, Key: key.join('/') }
  switch (headers['x-amz-target']?.split('.')[1] ?? name) {
    case 'GetItem':
      return () => dynamoDb.send(new GetItemCommand(JSON.parse(body)))
    case 'PutItem':
      return () => dynamoDb.send(new PutItemCommand(JSON.parse(body)))
    case 'UpdateItem':
      return () => dynamoDb.send(new UpdateItemCommand(JSON.parse(body)))
    case 'DeleteItem':
      return () => dynamoDb.send(new DeleteItemCommand(JSON.parse(body)))
    case 'HeadObject':
      return () => s3.send(new HeadObjectCommand(object))
    case 'CopyObject':
      return () =>
        s3.send(
          new CopyObjectCommand({
            ...object,
            CopySource: headers['x-amz-copy-source'],
            CopySourceIfMatch: headers['x-amz-copy-source-if-match'],
            IfNoneMatch: headers['if-none-match'],
            ChecksumAlgorithm: 'SHA256',
            MetadataDirective: 'REPLACE',
            ContentType: headers['content-type'],
            TaggingDirective: 'REPLACE',
            AnnotationDirective: 'EXCLUDE',
          }),
        )
    default:
      throw new Error(`a promotion does not call ${name}`)
  }
}
