import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { QuotaLedger, Reservation, ReserveOutcome, StorageUsage } from '../promotion/ports.ts'
import { callAws } from './call-aws.ts'

export interface QuotaLedgerSettings {
  client: DynamoDBClient
  tableName: string
  /** Quota of a workspace that nobody gave another one. */
  defaultQuotaBytes: number
  /** Reservations a workspace may have open at once: they all live in its one item, which must stay small. */
  maxReservations: number
}

/** The item of a workspace: its counter and its open reservations, changed together or not at all. */
interface WorkspaceItem {
  workspace_id: string
  quota_bytes: number
  /** quota_bytes less the bytes of documents and reservations. Stored because conditions cannot do arithmetic. */
  remaining_bytes: number
  /** By document id. */
  reservations: Record<string, ReservationItem>
}

interface ReservationItem {
  attempt_id: string
  size_bytes: number
  object_key: string
  /** ms since 1970. */
  lease_expires_at: number
}

const HAS_ROOM = 'remaining_bytes >= :size_bytes'
const IS_NEW = 'attribute_not_exists(reservations.#document_id)'
const IS_NOT_FULL = 'size(reservations) < :max_reservations'
const IS_OURS = 'reservations.#document_id.attempt_id = :attempt_id'

/**
 * The quota of each workspace as single-item conditional writes on the Workspaces table. The reservation in the map is
 * what makes each write safe to repeat (docs/decisions/0002-quota-ledger.md).
 */
export function createQuotaLedger(settings: QuotaLedgerSettings): QuotaLedger {
  const { client, tableName: TableName } = settings

  return {
    async reserve(reservation, signal) {
      const outcome = await tryReserve(reservation, signal)
      if (outcome !== 'unknown_workspace') return outcome
      await createWorkspace(reservation.workspaceId, signal)
      const second = await tryReserve(reservation, signal)
      if (second === 'unknown_workspace') throw new Error('the workspace item vanished right after it was made')
      return second
    },

    async settle(reservation, signal) {
      await ignoreFailedCondition(
        update(reservation, signal, {
          UpdateExpression: 'REMOVE reservations.#document_id',
          ConditionExpression: IS_OURS,
          ExpressionAttributeValues: { ':attempt_id': reservation.attemptId },
        }),
      )
    },

    async release(reservation, signal) {
      await ignoreFailedCondition(
        update(reservation, signal, {
          // The amount comes out of the reservation itself, so that it can only ever be what was taken.
          UpdateExpression:
            'SET remaining_bytes = remaining_bytes + reservations.#document_id.size_bytes REMOVE reservations.#document_id',
          ConditionExpression: IS_OURS,
          ExpressionAttributeValues: { ':attempt_id': reservation.attemptId },
        }),
      )
    },
  }

  async function tryReserve(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<ReserveOutcome | 'unknown_workspace'> {
    const item: ReservationItem = {
      attempt_id: reservation.attemptId,
      size_bytes: reservation.sizeBytes,
      object_key: reservation.objectKey,
      lease_expires_at: reservation.leaseExpiresAtMs,
    }
    try {
      const { Attributes } = await update(reservation, signal, {
        // quota_bytes is set to itself to be among the values returned.
        UpdateExpression:
          'SET remaining_bytes = remaining_bytes - :size_bytes, reservations.#document_id = :reservation, quota_bytes = quota_bytes',
        ConditionExpression: `${HAS_ROOM} AND ${IS_NEW} AND ${IS_NOT_FULL}`,
        ExpressionAttributeValues: {
          ':size_bytes': reservation.sizeBytes,
          ':reservation': item,
          ':max_reservations': settings.maxReservations,
        },
        ReturnValues: 'UPDATED_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return { outcome: 'reserved', usage: usageOf(unmarshall(Attributes ?? {}) as WorkspaceItem) }
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      if (error.Item === undefined) return 'unknown_workspace'
      return whyRefused(unmarshall(error.Item) as WorkspaceItem, reservation)
    }
  }

  /** Every update has the same key and knows the document by the same name. */
  function update(
    { workspaceId, documentId }: Reservation,
    signal: AbortSignal,
    {
      ExpressionAttributeValues,
      ...expressions
    }: {
      UpdateExpression: string
      ConditionExpression: string
      ExpressionAttributeValues: Record<string, unknown>
      ReturnValues?: 'UPDATED_NEW'
      ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
    },
  ) {
    const command = new UpdateItemCommand({
      TableName,
      Key: marshall({ workspace_id: workspaceId }),
      ExpressionAttributeNames: { '#document_id': documentId },
      ExpressionAttributeValues: marshall(ExpressionAttributeValues),
      ...expressions,
    })
    return callAws(signal, () => client.send(command, { abortSignal: signal }))
  }

  async function createWorkspace(workspaceId: string, signal: AbortSignal): Promise<void> {
    const item: WorkspaceItem = {
      workspace_id: workspaceId,
      quota_bytes: settings.defaultQuotaBytes,
      remaining_bytes: settings.defaultQuotaBytes,
      reservations: {},
    }
    const command = new PutItemCommand({
      TableName,
      Item: marshall(item),
      ConditionExpression: 'attribute_not_exists(workspace_id)',
    })
    await ignoreFailedCondition(callAws(signal, () => client.send(command, { abortSignal: signal })))
  }
}

/** Reads the reason for a refused reserve out of the item it was refused for. */
function whyRefused(item: WorkspaceItem, { documentId, attemptId, sizeBytes }: Reservation): ReserveOutcome {
  const existing = item.reservations[documentId]
  // Our own reservation is there: the SDK repeated a write that had been applied.
  if (existing?.attempt_id === attemptId) return { outcome: 'reserved', usage: usageOf(item) }
  if (existing !== undefined) return { outcome: 'in_progress' }
  if (item.remaining_bytes < sizeBytes) return { outcome: 'quota_exceeded', usage: usageOf(item) }
  return { outcome: 'too_many_reservations' }
}

function usageOf(item: Pick<WorkspaceItem, 'quota_bytes' | 'remaining_bytes'>): StorageUsage {
  return { quotaBytes: item.quota_bytes, usedBytes: item.quota_bytes - item.remaining_bytes }
}

/** For steps whose condition only fails when they were done before. */
async function ignoreFailedCondition(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error
  }
}
