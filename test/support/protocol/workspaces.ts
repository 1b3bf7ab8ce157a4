import { randomUUID } from 'node:crypto'
import { GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import {
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { expect } from 'vitest'
import { hashToken, newToken } from '../../../lib/auth/api-token.ts'
import { createQuotaLedger } from '../../../lib/aws/dynamodb/quota-ledger.ts'
import { createReservations } from '../../../lib/aws/dynamodb/reservations.ts'
import { newWorkspaceItem, toWorkspaceLedger } from '../../../lib/aws/dynamodb/workspace-item.ts'
import { documentIdOfAttempt, newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import type { ReservationItem } from '../../../lib/ledger/ports/reservations.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import type { StandIns } from '../stores/stand-ins.ts'

export interface TestWorkspace {
  workspaceId: WorkspaceId
  token: string
}

/** What is stored for a workspace. */
export interface WorkspaceState {
  documents: number
  objects: number
  unfinishedUploads: number
  usedBytes: number
  /** Reservations that hold bytes, and markers. */
  reservations: number
}

/** Puts workspaces, keys and files into S3 and DynamoDB, and looks at what became of them. */
export function createWorkspaces({ config, dynamoDb, s3 }: Pick<StandIns, 'config' | 'dynamoDb' | 's3'>) {
  const reservations = createReservations({ client: dynamoDb, tableName: config.reservationsTable })
  const listReservations = async (workspaceId: WorkspaceId) => {
    const all: ReservationItem[] = []
    for await (const open of reservations.list(workspaceId, AbortSignal.timeout(60_000))) all.push(open)
    return all
  }
  const newIds = (workspaceId: WorkspaceId) => {
    const attemptId = newAttemptId()
    return { workspaceId, documentId: documentIdOfAttempt(attemptId), attemptId }
  }
  return {
    /** @param quotaBytes omitted: the workspace has no ledger yet */
    async newWorkspace(quotaBytes?: number): Promise<TestWorkspace> {
      const token = newToken()
      const workspaceId = `ws_${randomUUID()}` as WorkspaceId
      const key = {
        token_hash: hashToken(token),
        key_id: `key_${workspaceId}`,
        workspace_id: workspaceId,
        kind: 'management',
        status: 'enabled',
      }
      await dynamoDb.send(new PutItemCommand({ TableName: config.keysTable, Item: marshall(key) }))
      if (quotaBytes !== undefined) {
        const Item = marshall(newWorkspaceItem(workspaceId, quotaBytes))
        await dynamoDb.send(new PutItemCommand({ TableName: config.workspacesTable, Item }))
      }
      return { workspaceId, token }
    },

    async putFile({ workspaceId }: TestWorkspace, path: string, bytes: Buffer): Promise<void> {
      const Key = `sandboxes/${workspaceId}/sess_1/${path}`
      await s3.send(new PutObjectCommand({ Bucket: config.sandboxBucket, Key, Body: bytes, ContentType: 'text/plain' }))
    },

    async removeFile({ workspaceId }: TestWorkspace, path: string): Promise<void> {
      const Key = `sandboxes/${workspaceId}/sess_1/${path}`
      await s3.send(new DeleteObjectCommand({ Bucket: config.sandboxBucket, Key }))
    },

    /** An object that is named as those of documents are, and belongs to none. */
    async putDocumentObject({ workspaceId }: TestWorkspace, bytes: Buffer): Promise<void> {
      const Key = createObjectKeys(config.keyTemplates).documentObject(newIds(workspaceId))
      await s3.send(new PutObjectCommand({ Bucket: config.documentsBucket, Key, Body: bytes }))
    },

    /** Leaves what a process leaves when it dies after reserving. */
    async plantReservation(
      { workspaceId }: TestWorkspace,
      { sizeBytes, leaseExpiresAtMs }: { sizeBytes: number; leaseExpiresAtMs: number },
    ): Promise<void> {
      const ids = newIds(workspaceId)
      const objectKey = createObjectKeys(config.keyTemplates).documentObject(ids)
      const ledger = createQuotaLedger({
        ...config,
        client: dynamoDb,
        tableName: config.workspacesTable,
      })
      const reservation = { ...ids, sizeBytes, objectKey, leaseExpiresAtMs }
      const signal = AbortSignal.timeout(60_000)
      expect((await ledger.take(reservation, signal)).outcome).toBe('taken')
      expect(await reservations.reserve(reservation, false, signal)).toBe('reserved')
      await ledger.unmark(reservation, signal)
    },

    /** Keys of objects that S3 may still write after their promotion was given up. */
    async lateCopyKeys({ workspaceId }: TestWorkspace): Promise<string[]> {
      const all = await listReservations(workspaceId)
      return all.filter(({ purpose }) => purpose === 'late_copy').map(({ objectKey }) => objectKey)
    },

    async stateOf({ workspaceId }: TestWorkspace): Promise<WorkspaceState> {
      const query = new QueryCommand({
        TableName: config.documentsTable,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        FilterExpression: 'record_kind = :document',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId, ':document': 'document' }),
      })
      const get = new GetItemCommand({
        TableName: config.workspacesTable,
        Key: marshall({ workspace_id: workspaceId }),
        ConsistentRead: true,
      })
      const prefix = { Bucket: config.documentsBucket, Prefix: `documents/${workspaceId}/` }
      const { Items = [] } = await dynamoDb.send(query)
      const { Item } = await dynamoDb.send(get)
      const { Contents = [] } = await s3.send(new ListObjectsV2Command(prefix))
      const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand(prefix))
      const ledger = Item && toWorkspaceLedger(Item)
      const open = (await listReservations(workspaceId)).filter(({ purpose }) => purpose === 'promotion')
      return {
        documents: Items.length,
        objects: Contents.length,
        unfinishedUploads: Uploads.length,
        usedBytes: ledger?.usedBytes ?? 0,
        reservations: open.length + (ledger?.takings.length ?? 0) + (ledger?.releases.length ?? 0),
      }
    },
  }
}
