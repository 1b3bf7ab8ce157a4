import { type AttributeValue, DeleteItemCommand, paginateQuery, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { newApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { deleteDocument } from '../../../lib/promotion/delete-document.ts'
import { describeFailure } from '../describe-failure.ts'
import type { SmokeContext } from './context.ts'

/** Makes what the checks need: a workspace, a key of it, and files in one of its sandboxes. */
export async function settleIn(context: SmokeContext, abortSignal: AbortSignal): Promise<void> {
  const { stores, s3, workspaceId, containerId, files, token } = context
  const roomBytes = Object.values(files).reduce((sum, { bytes }) => sum + 2 * bytes.length, 0)
  await stores.workspaces.create(workspaceId, roomBytes, abortSignal)
  const expiresAtMs = context.startedAtMs + 60 * 60 * 1000
  const grant = { workspaceId, kind: 'management', permissions: [], userId: 'smoke', expiresAtMs } as const
  await stores.apiKeys.add(newApiKeyRecord(token, grant, context.startedAtMs), abortSignal)
  for (const { path, bytes } of Object.values(files)) {
    const Key = stores.objectKeys.sandboxFile({ workspaceId, containerId, path })
    const object = { Bucket: stores.config.sandboxBucket, Key, Body: bytes, ContentType: 'application/octet-stream' }
    await s3.send(new PutObjectCommand(object), { abortSignal })
  }
}

/**
 * Removes all of it, and goes on when something cannot be removed. May be repeated, and after a run that stopped anywhere.
 * @returns what is left, one line each
 */
export async function moveOut(context: SmokeContext, signal: AbortSignal): Promise<string[]> {
  const { stores, s3, workspaceId, containerId, files, tokenHash, keyId } = context
  const { config } = stores
  const left: string[] = []
  const remove = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      left.push(`${what} (${describeFailure(error).message})`)
    }
  }
  // First: nobody comes in any more.
  await remove(`key ${keyId}`, () => deleteRow(config.keysTable, { token_hash: tokenHash }, context, signal))
  await remove(`documents of ${workspaceId}`, async () => {
    for await (const { documentId } of stores.documents.list(workspaceId, signal)) {
      await remove(`document ${documentId}`, () => deleteDocument({ workspaceId, documentId }, stores, signal))
    }
  })
  for (const { path } of Object.values(files)) {
    const Key = stores.objectKeys.sandboxFile({ workspaceId, containerId, path })
    const object = { Bucket: config.sandboxBucket, Key }
    await remove(`sandbox file ${Key}`, () => s3.send(new DeleteObjectCommand(object), { abortSignal: signal }))
  }
  // The workspace's own rows only when nothing is left that they count.
  if (left.length > 0) return [...left, `workspace ${workspaceId}, whose rows count what is left`]
  const rows = { workspace_id: workspaceId }
  await remove(`tombstones of ${workspaceId}`, () => deleteRows(config.documentsTable, 'document_id', context, signal))
  await remove(`reservations of ${workspaceId}`, () =>
    deleteRows(config.reservationsTable, 'reservation_id', context, signal),
  )
  await remove(`rate limit of ${keyId}`, () => deleteRow(config.rateLimitsTable, { key_id: keyId }, context, signal))
  await remove(`workspace ${workspaceId}`, () => deleteRow(config.workspacesTable, rows, context, signal))
  return left
}

async function deleteRows(TableName: string, sortKey: string, context: SmokeContext, abortSignal: AbortSignal) {
  const query: QueryCommandInput = {
    TableName,
    ConsistentRead: true,
    KeyConditionExpression: 'workspace_id = :workspace_id',
    ExpressionAttributeValues: marshall({ ':workspace_id': context.workspaceId }),
  }
  for await (const { Items = [] } of paginateQuery({ client: context.dynamoDb }, query, { abortSignal })) {
    for (const item of Items) {
      const Key = { workspace_id: item.workspace_id, [sortKey]: item[sortKey] } as Record<string, AttributeValue>
      await context.dynamoDb.send(new DeleteItemCommand({ TableName, Key }), { abortSignal })
    }
  }
}

function deleteRow(
  TableName: string,
  key: Record<string, string>,
  { dynamoDb }: SmokeContext,
  abortSignal: AbortSignal,
) {
  return dynamoDb.send(new DeleteItemCommand({ TableName, Key: marshall(key) }), { abortSignal })
}
