import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../promotion/ids.ts'
import type { QuotaLedger, Reservation, ReserveOutcome } from '../promotion/ports.ts'
import { callAws, wasRepeated } from './call-aws.ts'
import { isDone } from './conditional-write.ts'
import {
  newWorkspaceItem,
  openReservations,
  toReservationItem,
  toWorkspaceItem,
  usageOf,
  type WorkspaceItem,
} from './workspace-item.ts'

export interface QuotaLedgerSettings {
  client: DynamoDBClient
  tableName: string
  /** Quota of a workspace that nobody gave another one. */
  defaultQuotaBytes: number
  /** Reservations a workspace may have open at once: they all live in its one item, which must stay small. */
  maxReservations: number
}

const HAS_ROOM = 'remaining_bytes >= :size_bytes'
const IS_NEW = 'attribute_not_exists(reservations.#document_id)'
const IS_NOT_FULL = 'size(reservations) < :max_reservations'
const IS_OURS = 'reservations.#document_id.attempt_id = :attempt_id'
const EXISTS = 'attribute_exists(workspace_id)'

// The amount comes out of the reservation itself, so that it can only ever be what was taken.
const GIVE_BACK = 'remaining_bytes = remaining_bytes + reservations.#document_id.size_bytes'
const REMOVE = 'REMOVE reservations.#document_id'
const KEEP_CLOSED = 'reservations.#document_id.purpose = :closed, reservations.#document_id.size_bytes = :no_bytes'
const CLOSED = { ':closed': 'closed', ':no_bytes': 0 }
const COUNT_CHANGE = 'ADD version :one'

interface Update {
  UpdateExpression: string
  ConditionExpression: string
  names?: Record<string, string>
  values: Record<string, unknown>
  ReturnValues?: 'UPDATED_NEW'
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
}

/**
 * The quota of each workspace as single-item conditional writes on the Workspaces table. The reservation in the map is
 * what makes each write safe to repeat (docs/decisions/0002-quota-ledger.md).
 */
export function createQuotaLedger(settings: QuotaLedgerSettings): QuotaLedger {
  const { client, tableName: TableName } = settings

  return {
    async reserve(reservation, signal) {
      const first = await tryReserve(reservation, signal)
      if (first.outcome !== 'unknown_workspace') return first
      await createWorkspace(reservation.workspaceId, signal)
      const second = await tryReserve(reservation, signal)
      if (second.outcome === 'unknown_workspace') throw new Error('the workspace item vanished right after it was made')
      return { ...second, mayRepeat: first.mayRepeat || second.mayRepeat }
    },

    async settle(reservation, signal) {
      const kept = { UpdateExpression: `SET ${KEEP_CLOSED}`, values: CLOSED }
      await close(reservation, reservation.mayRepeat ? kept : { UpdateExpression: REMOVE }, signal)
    },

    async release(reservation, signal) {
      const kept = { UpdateExpression: `SET ${GIVE_BACK}, ${KEEP_CLOSED}`, values: CLOSED }
      const gone = { UpdateExpression: `SET ${GIVE_BACK} ${REMOVE}` }
      await close(reservation, reservation.mayRepeat ? kept : gone, signal)
    },

    async releaseAndWatch(reservation, signal) {
      // Not under the document's id: a new attempt at the same document must not find it in its way.
      const names = { '#watch': `late_copy_${reservation.attemptId}` }
      const values = { ':watch': toReservationItem({ ...reservation, sizeBytes: 0 }, 'late_copy') }
      const UpdateExpression = `SET ${GIVE_BACK}, reservations.#watch = :watch ${REMOVE}`
      if (await close(reservation, { UpdateExpression, names, values }, signal)) return
      // Somebody else has released it: the watch is still needed.
      const alone = { UpdateExpression: 'SET reservations.#watch = :watch', ConditionExpression: EXISTS, names, values }
      await isDone(update(reservation, signal, alone))
    },

    async isReserved({ workspaceId, documentId }, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ConsistentRead: true,
        ProjectionExpression: 'reservations.#document_id',
        ExpressionAttributeNames: { '#document_id': documentId },
      })
      const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
      return Item?.reservations !== undefined
    },

    async beginDeletion(reservation, signal) {
      try {
        const answer = await update(reservation, signal, {
          UpdateExpression: 'SET reservations.#document_id = :reservation',
          ConditionExpression: `${EXISTS} AND ${IS_NEW}`,
          values: { ':reservation': toReservationItem(reservation, 'deletion') },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        })
        return { outcome: 'begun', mayRepeat: wasRepeated(answer) }
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error
        const existing = error.Item && toWorkspaceItem(error.Item).reservations[reservation.documentId]
        // Our own reservation is there: the SDK repeated a write that had been applied.
        const isOurs = existing?.attempt_id === reservation.attemptId
        return isOurs ? { outcome: 'begun', mayRepeat: true } : { outcome: 'in_progress' }
      }
    },

    async usage(workspaceId, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ProjectionExpression: 'quota_bytes, remaining_bytes',
      })
      const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
      return Item && usageOf(toWorkspaceItem(Item))
    },
  }

  async function tryReserve(
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<ReserveOutcome | { outcome: 'unknown_workspace'; mayRepeat: boolean }> {
    try {
      const answer = await update(reservation, signal, {
        // quota_bytes is set to itself to be among the values returned.
        UpdateExpression:
          'SET remaining_bytes = remaining_bytes - :size_bytes, reservations.#document_id = :reservation, quota_bytes = quota_bytes',
        ConditionExpression: `${HAS_ROOM} AND ${IS_NEW} AND ${IS_NOT_FULL}`,
        values: {
          ':size_bytes': reservation.sizeBytes,
          ':reservation': toReservationItem(reservation, 'promotion'),
          ':max_reservations': settings.maxReservations,
        },
        ReturnValues: 'UPDATED_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const usage = usageOf(toWorkspaceItem(answer.Attributes ?? {}))
      return { outcome: 'reserved', usage, mayRepeat: wasRepeated(answer) }
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      const mayRepeat = wasRepeated(error)
      if (error.Item === undefined) return { outcome: 'unknown_workspace', mayRepeat }
      return { mayRepeat, ...whyRefused(toWorkspaceItem(error.Item), reservation) }
    }
  }

  /** Ends a reservation. @returns false when it is not there, or not this attempt's: then that was done before */
  async function close(
    reservation: Reservation,
    { UpdateExpression, names = {}, values = {} }: { UpdateExpression: string; names?: object; values?: object },
    signal: AbortSignal,
  ): Promise<boolean> {
    return isDone(
      update(reservation, signal, {
        UpdateExpression,
        ConditionExpression: IS_OURS,
        names: { '#document_id': reservation.documentId, ...names },
        values: { ...values, ':attempt_id': reservation.attemptId },
      }),
    )
  }

  /** Every update has the same key and counts as a change; most know the document by the same name. */
  function update(
    { workspaceId, documentId }: Reservation,
    signal: AbortSignal,
    { names = { '#document_id': documentId }, values, ...expressions }: Update,
  ) {
    const command = new UpdateItemCommand({
      TableName,
      Key: marshall({ workspace_id: workspaceId }),
      ...expressions,
      UpdateExpression: `${expressions.UpdateExpression} ${COUNT_CHANGE}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: marshall({ ...values, ':one': 1 }),
    })
    return callAws(signal, () => client.send(command, { abortSignal: signal }))
  }

  async function createWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const command = new PutItemCommand({
      TableName,
      Item: marshall(newWorkspaceItem(workspaceId, settings.defaultQuotaBytes)),
      ConditionExpression: 'attribute_not_exists(workspace_id)',
    })
    await isDone(callAws(signal, () => client.send(command, { abortSignal: signal })))
  }
}

/** Reads the reason for a refused reserve out of the item it was refused for. */
function whyRefused(item: WorkspaceItem, { documentId, attemptId, sizeBytes }: Reservation) {
  const existing = item.reservations[documentId]
  // Our own reservation is there: the SDK repeated a write that had been applied.
  if (existing?.attempt_id === attemptId) return { outcome: 'reserved', usage: usageOf(item), mayRepeat: true } as const
  const open = openReservations(item)
  if (existing !== undefined) return { outcome: 'in_progress', open } as const
  if (item.remaining_bytes < sizeBytes) return { outcome: 'quota_exceeded', usage: usageOf(item), open } as const
  return { outcome: 'too_many_reservations', open } as const
}
