import type { AttemptId, DocumentId, ReleaseId, WorkspaceId } from '../../ids.ts'
import type {
  Attempt,
  Note,
  ReservationItem,
  ReservationPurpose,
  Reservations,
} from '../../ledger/ports/reservations.ts'
import { CLOSING, SENT_ONCE } from '../calls/send.ts'
import { type Attributes, readItem, readItems } from './stored-item.ts'
import { openTable, type TableSettings, unlessThrottled } from './table.ts'

/** An item of the Reservations table: what an attempt at a document holds, until it is settled or released. */
interface StoredReservation {
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
  released_by?: string
  counted_from?: number
}

const IS_FREE = 'attribute_not_exists(reservation_id)'
const IS_OWN = 'attempt_id = :attempt_id'
const IS_ABANDONED = 'attempt_id = :abandoned'
const IS_CLAIM = 'purpose = :claim'
const IS_PROMOTION = 'purpose = :promotion'

export function createReservations(settings: TableSettings): Reservations {
  const table = openTable(settings)

  return {
    async claim(attempt, signal, abandoned) {
      const condition = {
        ConditionExpression: abandoned ? `${IS_FREE} OR (${IS_ABANDONED} AND ${IS_CLAIM})` : IS_FREE,
        values: abandoned && { ':abandoned': abandoned.attemptId, ':claim': 'claim' },
      }
      const options = { name: 'reservations.claim', signal, ...SENT_ONCE }
      const { applied, item = {} } = await table.put(toItem(attempt, 'claim'), options, condition)
      return applied ? undefined : toReservation(item)
    },

    async reserve(attempt, isClaimed, signal) {
      const condition = isClaimed ? ownClaim(attempt) : { ConditionExpression: IS_FREE }
      const options = { name: 'reservations.reserve', signal, ...SENT_ONCE }
      const write = await unlessThrottled(table.put(toItem(attempt, 'promotion'), options, condition))
      if (write === 'throttled') return 'throttled'
      return write.applied || hasReserved(attempt, write.item) ? 'reserved' : 'fenced'
    },

    async find({ workspaceId, documentId }, signal) {
      const item = await table.get(keyOf(workspaceId, documentId), { name: 'reservations.find', signal })
      return item && toReservation(item)
    },

    async fence(attempt, isClaimed, signal) {
      const options = { name: 'reservations.fence', signal, ...CLOSING }
      const { applied, item } = await (isClaimed
        ? table.remove(keyOf(attempt.workspaceId, attempt.documentId), ownClaim(attempt), options)
        : table.put(toItem(attempt, 'fence'), options, { ConditionExpression: IS_FREE }))
      return !applied && hasReserved(attempt, item) ? 'reserved' : 'fenced'
    },

    async handOver({ workspaceId, documentId, attemptId, releaseId }, signal) {
      const change = {
        UpdateExpression: 'SET released_by = :released_by',
        ConditionExpression: `${IS_OWN} AND ${IS_PROMOTION} AND attribute_not_exists(released_by)`,
        values: { ':attempt_id': attemptId, ':promotion': 'promotion', ':released_by': releaseId },
      }
      const options = { name: 'reservations.handOver', signal, ...CLOSING }
      const { applied, item } = await table.update(keyOf(workspaceId, documentId), change, options)
      if (applied) return releaseId
      const existing = item && toReservation(item)
      return existing?.attemptId === attemptId ? existing.releasedBy : undefined
    },

    async remove({ workspaceId, documentId, attemptId }, signal) {
      const condition = { ConditionExpression: IS_OWN, values: { ':attempt_id': attemptId } }
      const options = { name: 'reservations.remove', signal, ...CLOSING }
      await table.remove(keyOf(workspaceId, documentId), condition, options)
    },

    async note(note, attempt, signal) {
      await table.put(toItem(attempt, note), { name: 'reservations.note', signal, ...CLOSING })
    },

    async removeNote(note, attempt, signal) {
      const isSame = {
        ConditionExpression: 'lease_expires_at = :lease',
        values: { ':lease': attempt.leaseExpiresAtMs },
      }
      const options = { name: 'reservations.removeNote', signal, ...CLOSING }
      await table.remove(keyOf(attempt.workspaceId, noteIdOf(note, attempt)), isSame, options)
    },

    async *list(workspaceId, signal, onUnreadable) {
      const pages = table.pagesOf(workspaceId, { name: 'reservations.list', signal })
      for await (const items of pages) yield* readItems(items, toReservation, onUnreadable)
    },
  }
}

const keyOf = (workspaceId: WorkspaceId, reservationId: string) => ({
  workspace_id: workspaceId,
  reservation_id: reservationId,
})

const noteIdOf = (note: Note, { attemptId }: Pick<Attempt, 'attemptId'>) => `${note}_${attemptId}`

const ownClaim = ({ attemptId }: Attempt) => ({
  ConditionExpression: `${IS_OWN} AND ${IS_CLAIM}`,
  values: { ':attempt_id': attemptId, ':claim': 'claim' },
})

const hasReserved = ({ attemptId }: Attempt, item: Attributes | undefined) =>
  item?.purpose?.S === 'promotion' && item.attempt_id?.S === attemptId

function toItem(reservation: Attempt, purpose: ReservationPurpose): StoredReservation {
  return {
    workspace_id: reservation.workspaceId,
    reservation_id:
      purpose === 'late_copy' || purpose === 'deletion' ? noteIdOf(purpose, reservation) : reservation.documentId,
    document_id: reservation.documentId,
    attempt_id: reservation.attemptId,
    purpose,
    // A deletion's size is for whoever goes on with it.
    size_bytes: purpose === 'promotion' || purpose === 'deletion' ? reservation.sizeBytes : 0,
    object_key: reservation.objectKey,
    lease_expires_at: reservation.leaseExpiresAtMs,
    ...(reservation.countedFrom !== undefined && { counted_from: reservation.countedFrom }),
  }
}

function toReservation(attributes: Attributes): ReservationItem {
  const item = readItem<StoredReservation>(
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
    releasedBy: item.released_by as ReleaseId | undefined,
    ...(item.counted_from !== undefined && { countedFrom: item.counted_from }),
  }
}
