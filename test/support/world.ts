import { randomUUID } from 'node:crypto'
import { GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { expect } from 'vitest'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { newWorkspaceItem, type ReservationItem, toWorkspaceItem } from '../../lib/aws/workspace-item.ts'
import { newAttemptId, newDocumentId, type WorkspaceId } from '../../lib/promotion/ids.ts'
import { createObjectKeys } from '../../lib/promotion/object-keys.ts'
import type { StandIns } from './stand-ins.ts'

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
  /** Those that hold bytes. */
  reservations: number
}

/** Puts workspaces, keys and files into the stand-ins, and looks what became of them. */
export function createWorld({ config, dynamoDb, s3 }: StandIns) {
  return {
    config,

    /** @param quotaBytes left out: the workspace has no ledger yet */
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

    /** What a process leaves that dies after it reserved. */
    async plantReservation(
      { workspaceId }: TestWorkspace,
      { sizeBytes, leaseExpiresAtMs }: { sizeBytes: number; leaseExpiresAtMs: number },
    ): Promise<void> {
      const ids = { workspaceId, documentId: newDocumentId(), attemptId: newAttemptId() }
      const objectKey = createObjectKeys(config.keyTemplates).documentObject(ids)
      const ledger = createQuotaLedger({ ...config, client: dynamoDb, tableName: config.workspacesTable })
      const reservation = { ...ids, sizeBytes, objectKey, leaseExpiresAtMs }
      expect((await ledger.reserve(reservation, AbortSignal.timeout(5000))).outcome).toBe('reserved')
    },

    /** Keys of objects that S3 may still write after their promotion was given up. */
    async watchedObjects({ workspaceId }: TestWorkspace): Promise<string[]> {
      const Key = marshall({ workspace_id: workspaceId })
      const { Item } = await dynamoDb.send(new GetItemCommand({ TableName: config.workspacesTable, Key }))
      const reservations = Item ? Object.values(toWorkspaceItem(Item).reservations) : []
      return reservations.filter(({ purpose }) => purpose === 'late_copy').map(({ object_key }) => object_key)
    },

    async stateOf({ workspaceId }: TestWorkspace): Promise<WorkspaceState> {
      const query = new QueryCommand({
        TableName: config.documentsTable,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        FilterExpression: 'record_kind = :document',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId, ':document': 'document' }),
      })
      const get = new GetItemCommand({
        TableName: config.workspacesTable,
        Key: marshall({ workspace_id: workspaceId }),
      })
      const prefix = { Bucket: config.documentsBucket, Prefix: `documents/${workspaceId}/` }
      const { Items = [] } = await dynamoDb.send(query)
      const { Item } = await dynamoDb.send(get)
      const { Contents = [] } = await s3.send(new ListObjectsV2Command(prefix))
      const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand(prefix))
      const workspace = Item && toWorkspaceItem(Item)
      const holdsBytes = ({ purpose }: ReservationItem) => purpose === 'promotion' || purpose === 'deletion'
      return {
        documents: Items.length,
        objects: Contents.length,
        unfinishedUploads: Uploads.length,
        usedBytes: workspace ? workspace.quota_bytes - workspace.remaining_bytes : 0,
        reservations: Object.values(workspace?.reservations ?? {}).filter(holdsBytes).length,
      }
    },
  }
}
