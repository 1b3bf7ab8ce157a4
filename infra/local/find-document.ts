import type { Readable } from 'node:stream'
import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { Config } from '../../lib/config.ts'
import type { Download } from './page.ts'

/** Finds the bytes of a document, for the page of npm start alone. */
export function createFindDocument({
  dynamoDb,
  s3,
  config,
}: {
  dynamoDb: DynamoDBClient
  s3: S3Client
  config: Config
}) {
  return async (workspaceId: string, documentId: string): Promise<Download | undefined> => {
    const Key = marshall({ workspace_id: workspaceId, document_id: documentId })
    const { Item } = await dynamoDb.send(new GetItemCommand({ TableName: config.documentsTable, Key }))
    const { object_key, mime_type } = Item === undefined ? {} : unmarshall(Item)
    if (object_key === undefined) return undefined
    const object = await s3.send(new GetObjectCommand({ Bucket: config.documentsBucket, Key: object_key }))
    return { contentType: mime_type, sizeBytes: object.ContentLength ?? 0, body: object.Body as Readable }
  }
}
