import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../ids.ts'
import type { OpenReservation, Reservation, ReservationPurpose, Reservations } from '../promotion/reservations.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import { listPages } from './list-pages.ts'
import { OPENING, type SendOptions, send } from './send.ts'
import { type Attributes, readItem, readItems } from './stored-item.ts'

/** An item of the Reservations table: what an attempt at a document holds, until it is settled or released. */
interface ReservationItem {
  workspace_id: string
  /** The document id. A late copy has an id of its own, so that it does not get in a later attempt's way. */
  reservation_id: string
  document_id: string
  attempt_id: string
  purpose: ReservationPurpose
  size_bytes: number
  object_key: string
  /** ms since 1970. */
  lease_expires_at: number
  closed_by?: string
  counted_from?: number
}

const IS_FREE_ROW = 'attribute_not_exists(reservation_id)'
const IS_OWN_ROW = 'attempt_id = :attempt_id'
const IS_PROMOTION = 'purpose = :promotion'
const IS_OPEN = '(attribute_not_exists(closed_by) OR closed_by = :closed_by)'

/** As long as the request lives. */
const CLOSING_PATIENCE_MS = 60_000

export function createReservations({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): Reservations {
  return {
    async open(reservation, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem(reservation, 'promotion')),
        ConditionExpression: IS_FREE_ROW,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = await conditionally(send(client, command, { name: 'reservations.open', signal, ...OPENING }))
      return write.held ? { outcome: 'opened' } : { outcome: 'in_progress', other: toReservation(write.item ?? {}) }
    },

    async find({ workspaceId, documentId }, signal) {
      const command = new GetItemCommand({ TableName, Key: keyOf(workspaceId, documentId), ConsistentRead: true })
      const { Item } = await send(client, command, { name: 'reservations.find', signal })
      return Item && toReservation(Item)
    },

    async forestall(reservation, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem({ ...reservation, sizeBytes: 0 }, 'fence')),
        ConditionExpression: IS_FREE_ROW,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      // This opens, too: if it arrived late, nobody would be due to look.
      const write = await conditionally(
        send(client, command, { name: 'reservations.forestall', signal, ...OPENING, patienceMs: CLOSING_PATIENCE_MS }),
      )
      if (write.held) return 'forestalled'
      return toReservation(write.item ?? {}).attemptId === reservation.attemptId ? 'open' : 'occupied'
    },

    async close({ workspaceId, documentId, attemptId, releaseId }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId, documentId),
        UpdateExpression: 'SET closed_by = :closed_by',
        ConditionExpression: `${IS_OWN_ROW} AND ${IS_PROMOTION} AND ${IS_OPEN}`,
        ExpressionAttributeValues: marshall({
          ':attempt_id': attemptId,
          ':promotion': 'promotion',
          ':closed_by': releaseId,
        }),
        ReturnValues: 'ALL_NEW',
      })
      const write = await conditionally(
        send(client, command, { name: 'reservations.close', signal, patienceMs: CLOSING_PATIENCE_MS }),
      )
      return write.held ? toReservation(write.output.Attributes ?? {}) : undefined
    },

    remove: (reservation, signal) =>
      remove(reservation, reservation.documentId, { name: 'reservations.remove', signal }),

    async watch(reservation, signal) {
      const Item = marshall(toItem({ ...reservation, sizeBytes: 0 }, 'late_copy'))
      await send(client, new PutItemCommand({ TableName, Item }), {
        name: 'reservations.watch',
        signal,
        patienceMs: CLOSING_PATIENCE_MS,
      })
    },

    removeWatch: (reservation, signal) =>
      remove(reservation, watchIdOf(reservation), { name: 'reservations.removeWatch', signal }),

    async *list(workspaceId, signal, onUnreadable) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'workspace_id = :workspace_id',
        ExpressionAttributeValues: marshall({ ':workspace_id': workspaceId }),
      }
      const pages = listPages((start) =>
        send(client, new QueryCommand({ ...query, ...start }), { name: 'reservations.list', signal }),
      )
      for await (const items of pages) yield* readItems(items, toReservation, onUnreadable)
    },
  }

  async function remove({ workspaceId, attemptId }: Reservation, id: string, options: SendOptions): Promise<void> {
    const command = new DeleteItemCommand({
      TableName,
      Key: keyOf(workspaceId, id),
      ConditionExpression: IS_OWN_ROW,
      ExpressionAttributeValues: marshall({ ':attempt_id': attemptId }),
    })
    await conditionHeld(send(client, command, { ...options, patienceMs: CLOSING_PATIENCE_MS }))
  }
}

const keyOf = (workspaceId: WorkspaceId, reservationId: string) =>
  marshall({ workspace_id: workspaceId, reservation_id: reservationId })

const watchIdOf = ({ attemptId }: Reservation) => `late_copy_${attemptId}`

function toItem(reservation: Reservation, purpose: ReservationPurpose): ReservationItem {
  return {
    workspace_id: reservation.workspaceId,
    reservation_id: purpose === 'late_copy' ? watchIdOf(reservation) : reservation.documentId,
    document_id: reservation.documentId,
    attempt_id: reservation.attemptId,
    purpose,
    size_bytes: reservation.sizeBytes,
    object_key: reservation.objectKey,
    lease_expires_at: reservation.leaseExpiresAtMs,
    ...(reservation.countedFrom !== undefined && { counted_from: reservation.countedFrom }),
  }
}

function toReservation(attributes: Attributes): OpenReservation {
  const item = readItem<ReservationItem>(
    attributes,
    {
      document_id: 'string',
      attempt_id: 'string',
      purpose: 'string',
      object_key: 'string',
      size_bytes: 'number',
      lease_expires_at: 'number',
    },
    ['workspace_id', 'reservation_id'],
  )
  return {
    workspaceId: item.workspace_id as WorkspaceId,
    documentId: item.document_id as DocumentId,
    attemptId: item.attempt_id as AttemptId,
    sizeBytes: item.size_bytes,
    objectKey: item.object_key,
    leaseExpiresAtMs: item.lease_expires_at,
    purpose: item.purpose,
    closedBy: item.closed_by as ReleaseId | undefined,
    ...(item.counted_from !== undefined && { countedFrom: item.counted_from }),
  }
}
