import { marshall } from '@aws-sdk/util-dynamodb'
import { checkShardOf } from '../../../lib/aws/workspace-item.ts'
import type { Config } from '../../../lib/config.ts'
import type { LimitedDynamoDb } from '../../support/dynamodb/limited-dynamodb.ts'
import { attemptIdOf, bytesIn, namesOf, type Population, QUOTA_BYTES, sizeOf, workspaceIdOf } from './population.ts'

/** How far a promotion had come when its process was killed. */
export type DiedAfter = 'take' | 'unmark'

export interface Leftover {
  workspace: number
  /** A number beyond those of the workspace's documents. */
  document: number
  diedAfter: DiedAfter
  leaseExpiresAtMs: number
}

/** Writes what a promotion leaves when it dies, into a workspace in which nothing else is under way. */
export async function plantLeftover(
  { workspace, document, diedAfter, leaseExpiresAtMs }: Leftover,
  dynamoDb: Pick<LimitedDynamoDb, 'execute'>,
  population: Population,
  { workspacesTable, reservationsTable }: Config,
): Promise<void> {
  const workspaceId = workspaceIdOf(workspace)
  const { documentId, attemptId, objectKey } = namesOf(workspace, document)
  const sizeBytes = sizeOf(workspace, document)
  const taking = { [attemptId]: { n: sizeBytes, l: leaseExpiresAtMs } }
  const ledger = {
    workspace_id: workspaceId,
    quota_bytes: QUOTA_BYTES,
    remaining_bytes: QUOTA_BYTES - bytesIn(workspace, population) - sizeBytes,
    takings: diedAfter === 'take' ? taking : {},
    releases: {},
    version: 1,
    check_due_at: leaseExpiresAtMs,
    check_shard: checkShardOf(workspaceId),
  }
  const reservation = {
    workspace_id: workspaceId,
    reservation_id: documentId,
    document_id: documentId,
    attempt_id: attemptId,
    purpose: 'promotion',
    size_bytes: sizeBytes,
    object_key: objectKey,
    lease_expires_at: leaseExpiresAtMs,
  }
  await dynamoDb.execute('PutItem', { TableName: workspacesTable, Item: marshall(ledger) })
  if (diedAfter === 'unmark') {
    await dynamoDb.execute('PutItem', { TableName: reservationsTable, Item: marshall(reservation) })
  }
}

/** Whether the bytes of all leftovers were given back, and nothing is left but watches for late copies. */
export async function isHealed(
  leftovers: readonly Leftover[],
  dynamoDb: Pick<LimitedDynamoDb, 'execute'>,
  population: Population,
  { workspacesTable }: Config,
): Promise<boolean> {
  for (const { workspace, document } of leftovers) {
    const Key = marshall({ workspace_id: workspaceIdOf(workspace) })
    const { Item } = await dynamoDb.execute('GetItem', { TableName: workspacesTable, Key, ConsistentRead: true })
    const { remaining_bytes, takings } = (Item ?? {}) as Record<string, { N?: string; M?: object }>
    const isBack = Number(remaining_bytes?.N) === QUOTA_BYTES - bytesIn(workspace, population)
    if (!isBack || attemptIdOf(workspace, document) in (takings?.M ?? {})) return false
  }
  return true
}
