import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { hashToken, keyIdOf, newToken } from '../../../lib/auth/api-token.ts'
import { forEachAtOnce } from '../../../lib/each-at-once.ts'
import type { ContainerId, FilePath, WorkspaceId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/promotion/delete-document.ts'
import type { Stores } from '../connect.ts'
import { describeFailure } from '../describe-failure.ts'

export interface TrialFile {
  path: FilePath
  bytes: Buffer
}

/** A key that may do everything in the workspace. */
export interface TrialKey {
  token: string
  tokenHash: string
  keyId: string
}

/** A workspace made for the test, and what is in it. */
export interface TrialWorkspace {
  stores: Stores
  s3: S3Client
  dynamoDb: DynamoDBClient
  workspaceId: WorkspaceId
  containerId: ContainerId
  /** In its sandbox. */
  files: Readonly<Record<string, TrialFile>>
  keys: readonly TrialKey[]
  /** Its quota. */
  roomBytes: number
  /** Recorded as the owner of the keys. */
  userId: string
  startedAtMs: number
}

/** Parallel deletions. */
const AT_ONCE = 8

export function newTrialKey(): TrialKey {
  const token = newToken()
  const tokenHash = hashToken(token)
  return { token, tokenHash, keyId: keyIdOf(tokenHash) }
}

export async function setUpTrial(trial: TrialWorkspace, abortSignal: AbortSignal): Promise<void> {
  const { stores, s3, workspaceId, containerId, files, keys, roomBytes, userId, startedAtMs } = trial
  await stores.workspaces.create(workspaceId, roomBytes, abortSignal)
  const expiresAtMs = startedAtMs + 60 * 60 * 1000
  const grant = { workspaceId, kind: 'management', permissions: [], userId, expiresAtMs } as const
  for (const { token } of keys) await stores.apiKeys.add(newApiKeyRecord(token, grant, startedAtMs), abortSignal)
  for (const { path, bytes } of Object.values(files)) {
    const Key = stores.objectKeys.sandboxFile({ workspaceId, containerId, path })
    const object = { Bucket: stores.config.sandboxBucket, Key, Body: bytes, ContentType: 'application/octet-stream' }
    await s3.send(new PutObjectCommand(object), { abortSignal })
  }
}

/**
 * Removes all of it, and goes on when something cannot be removed. May be repeated, and may follow a run that stopped
 * at any point.
 * @returns what is left, one line each
 */
export async function tearDownTrial(trial: TrialWorkspace, signal: AbortSignal): Promise<string[]> {
  const { stores, s3, workspaceId, containerId, files, keys } = trial
  const { config } = stores
  const left: string[] = []
  const remove = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      left.push(`${what} (${describeFailure(error).message})`)
    }
  }
  // First, so that no request comes in any more.
  for (const { tokenHash, keyId } of keys) {
    await remove(`key ${keyId}`, () => deleteRow(config.keysTable, { token_hash: tokenHash }, trial, signal))
  }
  await remove(`documents of ${workspaceId}`, () =>
    forEachAtOnce(stores.documents.list(workspaceId, signal), AT_ONCE, ({ documentId }) =>
      remove(`document ${documentId}`, () => deleteDocument({ workspaceId, documentId }, stores, signal)),
    ),
  )
  for (const { path } of Object.values(files)) {
    const Key = stores.objectKeys.sandboxFile({ workspaceId, containerId, path })
    const object = { Bucket: config.sandboxBucket, Key }
    await remove(`sandbox file ${Key}`, () => s3.send(new DeleteObjectCommand(object), { abortSignal: signal }))
  }
  // The workspace's own rows only when nothing is left that they count.
  if (left.length > 0) return [...left, `workspace ${workspaceId}, whose rows count what is left`]
  const rows = { workspace_id: workspaceId }
  await remove(`tombstones of ${workspaceId}`, () => deleteRows(config.documentsTable, 'document_id', trial, signal))
  await remove(`reservations of ${workspaceId}`, () =>
    deleteRows(config.reservationsTable, 'reservation_id', trial, signal),
  )
  for (const { keyId } of keys) {
    await remove(`rate limit of ${keyId}`, () => deleteRow(config.rateLimitsTable, { key_id: keyId }, trial, signal))
  }
  await remove(`workspace ${workspaceId}`, () => deleteRow(config.workspacesTable, rows, trial, signal))
  return left
}

async function deleteRows(TableName: string, sortKey: string, trial: TrialWorkspace, abortSignal: AbortSignal) {
  const { dynamoDb: client, workspaceId } = trial
  const query: QueryCommandInput = {
    TableName,
    ConsistentRead: true,
    KeyConditionExpression: 'workspace_id = :workspace_id',
    ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId }),
  }
  for await (const { Items = [] } of paginateQuery({ client }, query, { abortSignal })) {
    await forEachAtOnce(Items, AT_ONCE, async (item) => {
      const Key = { workspace_id: item.workspace_id, [sortKey]: item[sortKey] } as Record<string, AttributeValue>
      await client.send(new DeleteItemCommand({ TableName, Key }), { abortSignal })
    })
  }
}

function deleteRow(
  TableName: string,
  key: Record<string, string>,
  { dynamoDb }: TrialWorkspace,
  abortSignal: AbortSignal,
) {
  return dynamoDb.send(new DeleteItemCommand({ TableName, Key: marshall(key) }), { abortSignal })
}
