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
import type { Note, OpenReservation, Reservation, ReservationPurpose, Reservations } from '../promotion/reservations.ts'
import { conditionally, conditionHeld, unlessThrottled } from './conditional-write.ts'
import { listPages } from './list-pages.ts'
import { OPENING, send } from './send.ts'
import { type Attributes, readItem, readItems } from './stored-item.ts'

/** An item of the Reservations table: what an attempt at a document holds, until it is settled or released. */
interface ReservationItem {
  workspace_id: string
  /** The document id. A note has an id of its own, so that it does not get in a later attempt's way. */
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
const IS_DEAD_ROW = 'attempt_id = :dead'
const IS_OWN_ROW = 'attempt_id = :attempt_id'
const IS_PROMOTION = 'purpose = :promotion'
const IS_CLAIM = 'purpose = :claim'

/** As long as the request lives. */
const CLOSING = { patienceMs: 60_000 }

export function createReservations({
  client,
  tableName: TableName,
}: {
  client: DynamoDBClient
  tableName: string
}): Reservations {
  return {
    async claim(reservation, signal, dead) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem(reservation, 'claim')),
        ConditionExpression: dead ? `${IS_FREE_ROW} OR (${IS_DEAD_ROW} AND ${IS_CLAIM})` : IS_FREE_ROW,
        ...(dead && { ExpressionAttributeValues: marshall({ ':dead': dead.attemptId, ':claim': 'claim' }) }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = await conditionally(send(client, command, { name: 'reservations.claim', signal, ...OPENING }))
      return write.held ? undefined : toReservation(write.item ?? {})
    },

    async open(reservation, isClaimed, signal) {
      const command = new PutItemCommand({
        TableName,
        Item: marshall(toItem(reservation, 'promotion')),
        ConditionExpression: isClaimed ? `${IS_OWN_ROW} AND ${IS_CLAIM}` : IS_FREE_ROW,
        ...(isClaimed && {
          ExpressionAttributeValues: marshall({ ':attempt_id': reservation.attemptId, ':claim': 'claim' }),
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = await unlessThrottled(send(client, command, { name: 'reservations.open', signal, ...OPENING }))
      if (write === 'throttled') return 'throttled'
      return write.held || isOpen(write.item, reservation) ? 'opened' : 'refused'
    },

    async find({ workspaceId, documentId }, signal) {
      const command = new GetItemCommand({ TableName, Key: keyOf(workspaceId, documentId), ConsistentRead: true })
      const { Item } = await send(client, command, { name: 'reservations.find', signal })
      return Item && toReservation(Item)
    },

    async forestall(reservation, isClaimed, signal) {
      const options = { name: 'reservations.forestall', signal, ...CLOSING }
      const row = { TableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const
      const put = { ...row, Item: marshall(toItem(reservation, 'forestalled')), ConditionExpression: IS_FREE_ROW }
      const removal = {
        ...row,
        Key: keyOf(reservation.workspaceId, reservation.documentId),
        ConditionExpression: `${IS_OWN_ROW} AND ${IS_CLAIM}`,
        ExpressionAttributeValues: marshall({ ':attempt_id': reservation.attemptId, ':claim': 'claim' }),
      }
      const write = await (isClaimed
        ? conditionally(send(client, new DeleteItemCommand(removal), options))
        : conditionally(send(client, new PutItemCommand(put), options)))
      return !write.held && isOpen(write.item, reservation) ? 'open' : 'forestalled'
    },

    async close({ workspaceId, documentId, attemptId, releaseId }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId, documentId),
        UpdateExpression: 'SET closed_by = :closed_by',
        ConditionExpression: `${IS_OWN_ROW} AND ${IS_PROMOTION} AND attribute_not_exists(closed_by)`,
        ExpressionAttributeValues: marshall({
          ':attempt_id': attemptId,
          ':promotion': 'promotion',
          ':closed_by': releaseId,
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = await conditionally(send(client, command, { name: 'reservations.close', signal, ...CLOSING }))
      if (write.held) return releaseId
      const existing = write.item && toReservation(write.item)
      return existing?.attemptId === attemptId ? existing.closedBy : undefined
    },

    async remove({ workspaceId, documentId, attemptId }, signal) {
      const command = new DeleteItemCommand({
        TableName,
        Key: keyOf(workspaceId, documentId),
        ConditionExpression: IS_OWN_ROW,
        ExpressionAttributeValues: marshall({ ':attempt_id': attemptId }),
      })
      await conditionHeld(send(client, command, { name: 'reservations.remove', signal, ...CLOSING }))
    },

    async note(note, reservation, signal) {
      const Item = marshall(toItem(reservation, note))
      await send(client, new PutItemCommand({ TableName, Item }), { name: 'reservations.note', signal, ...CLOSING })
    },

    async removeNote(note, reservation, signal) {
      const command = new DeleteItemCommand({
        TableName,
        Key: keyOf(reservation.workspaceId, noteIdOf(note, reservation)),
        ConditionExpression: 'lease_expires_at = :lease',
        ExpressionAttributeValues: marshall({ ':lease': reservation.leaseExpiresAtMs }),
      })
      await conditionHeld(send(client, command, { name: 'reservations.removeNote', signal, ...CLOSING }))
    },

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
}

const keyOf = (workspaceId: WorkspaceId, reservationId: string) =>
  marshall({ workspace_id: workspaceId, reservation_id: reservationId })

const noteIdOf = (note: Note, { attemptId }: Pick<Reservation, 'attemptId'>) => `${note}_${attemptId}`

const isOpen = (item: Attributes | undefined, { attemptId }: Reservation) =>
  item?.purpose?.S === 'promotion' && item.attempt_id?.S === attemptId

function toItem(reservation: Reservation, purpose: ReservationPurpose): ReservationItem {
  return {
    workspace_id: reservation.workspaceId,
    reservation_id:
      purpose === 'late_copy' || purpose === 'deletion' ? noteIdOf(purpose, reservation) : reservation.documentId,
    document_id: reservation.documentId,
    attempt_id: reservation.attemptId,
    purpose,
    // Of a deletion, for whoever goes on with it.
    size_bytes: purpose === 'promotion' || purpose === 'deletion' ? reservation.sizeBytes : 0,
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
