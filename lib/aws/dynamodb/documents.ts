import type { DocumentId, RefundId } from '../../ids.ts'
import { endsSoon } from '../../ledger/expiry.ts'
import type { Attempt, DocumentItem, Documents } from '../../ledger/ports/documents.ts'
import { CLOSING, SENT_ONCE } from '../calls/send.ts'
import type { Attributes } from './codec.ts'
import {
  attemptItemKey,
  decodeItem,
  documentKey,
  dueShardOf,
  encodeDue,
  encodeReady,
  encodeTombstone,
  eventOfEnd,
  isForgotten,
  ONLY_OF_READY,
} from './document-codec.ts'
import { getItem, getItems, putItem, removeItem, setting, settingIfAsRead, type Table, updateItem } from './table.ts'

/** Index of the Documents table by due_shard and due_at. Contains only what expires, or may be left by a dead process. */
export const DUE_INDEX = 'due'

const IS_FREE = 'attribute_not_exists(document_id)'
const IS_OWN = 'attempt_id = :attempt_id'
const IN_STATE = `item_state = :state AND ${IS_OWN}`
/** DynamoDB's TTL removes the tombstone some time later. */
const IS_FORGOTTEN = '(item_state = :gone AND ttl_at <= :now)'
const HAS_EXPIRED = '(item_state = :gone AND event = :expired AND attempt_id = :over)'
const IS_KEPT_FOR_EVER = 'attribute_not_exists(due_at)'
const TOMBSTONE_SECONDS = 24 * 60 * 60

export function createDocuments(table: Table & { leaseMs: number; now(): number }): Documents {
  const { leaseMs, now } = table
  const decoded = (item: Attributes | undefined, nowMs = now()) =>
    item && !isForgotten(item, nowMs) ? (decodeItem(item) as DocumentItem) : undefined
  const stateOf = ({ attemptId }: Pick<Attempt, 'attemptId'>, state: string) => ({
    ':state': state,
    ':attempt_id': attemptId,
  })
  const ttlAt = () => Math.ceil(now() / 1000) + TOMBSTONE_SECONDS
  const closing = (name: string, signal: AbortSignal) => ({ name: `documents.${name}`, signal, ...CLOSING })

  return {
    async find(document, signal) {
      return decoded(await getItem(table, documentKey(document), { name: 'documents.find', signal }))
    },

    async findAll(workspaceId, documentIds, signal) {
      const keys = documentIds.map((documentId: DocumentId) => documentKey({ workspaceId, documentId }))
      const items = await getItems(table, keys, { name: 'documents.findAll', signal })
      return items.flatMap((item) => decoded(item) ?? [])
    },

    async begin(pending, over, signal) {
      // A tombstone that refuses this write is no longer remembered an instant later: both go by one moment.
      const nowMs = now()
      const condition = {
        ConditionExpression: `${IS_FREE} OR ${IS_FORGOTTEN}${over ? ` OR ${HAS_EXPIRED}` : ''}`,
        values: {
          ':gone': 'gone',
          ':now': Math.floor(nowMs / 1000),
          ...(over && { ':over': over.attemptId, ':expired': eventOfEnd(true) }),
        },
      }
      const options = { name: 'documents.begin', signal, ...SENT_ONCE }
      const begun = { ...documentKey(pending), ...encodeDue(pending) }
      const { applied, item } = await putItem(table, begun, options, condition)
      return applied ? undefined : decoded(item, nowMs)
    },

    async record(document, signal) {
      const condition = { ConditionExpression: IN_STATE, values: stateOf(document, 'pending') }
      const { applied, item } = await putItem(table, encodeReady(document), closing('record', signal), condition)
      // A repetition finds what became of the document.
      return applied || isRecorded(document, item)
    },

    async fence(attempt, signal) {
      const condition = { ConditionExpression: IN_STATE, values: stateOf(attempt, 'pending') }
      const { applied, item } = await removeItem(table, documentKey(attempt), condition, closing('fence', signal))
      return !applied && isRecorded(attempt, item)
    },

    async delete(document, { ifExpiredByMs, unlessExpiredByMs, dueAtMs }, signal) {
      const isExpired = ifExpiredByMs !== undefined
      const due = { due_at: dueAtMs, due_shard: dueShardOf('work', document.documentId) }
      const { values, ...ending } = setting({
        item_state: 'deleting',
        event: eventOfEnd(isExpired),
        // An expired document stays where it is in the index.
        ...(!isExpired && due),
        ...Object.fromEntries(ONLY_OF_READY.map((name) => [name, undefined])),
      })
      const hasExpired = isExpired ? ' AND due_at <= :expired_by' : ''
      const isUnexpired = unlessExpiredByMs === undefined ? '' : ` AND (${IS_KEPT_FOR_EVER} OR due_at > :expired_by)`
      const change = {
        ...ending,
        ConditionExpression: `${IN_STATE}${hasExpired}${isUnexpired}`,
        values: { ...values, ...stateOf(document, 'ready'), ':expired_by': ifExpiredByMs ?? unlessExpiredByMs },
        ReturnValues: 'ALL_NEW',
      } as const
      const { item } = await updateItem(table, documentKey(document), change, closing('delete', signal))
      return decoded(item)
    },

    async nameRefund(document, { refundId, refundVersion }, signal) {
      const change = {
        UpdateExpression: 'SET refund_id = :refund_id, refund_version = :version',
        ConditionExpression: `${IN_STATE} AND attribute_not_exists(refund_id)`,
        values: { ...stateOf(document, 'deleting'), ':refund_id': refundId, ':version': refundVersion },
      }
      const { applied, item } = await updateItem(table, documentKey(document), change, closing('nameRefund', signal))
      if (applied) return refundId
      const isSame = item?.item_state?.S === 'deleting' && item.attempt_id?.S === document.attemptId
      return isSame ? (item.refund_id?.S as RefundId | undefined) : undefined
    },

    async bury(document, refundId, signal) {
      const change = {
        UpdateExpression: 'SET item_state = :gone, ttl_at = :ttl_at REMOVE due_at, due_shard',
        ConditionExpression: `${IN_STATE} AND refund_id = :refund_id`,
        values: { ...stateOf(document, 'deleting'), ':gone': 'gone', ':ttl_at': ttlAt(), ':refund_id': refundId },
      }
      await updateItem(table, documentKey(document), change, closing('bury', signal))
    },

    async keepTombstone(tombstone, signal) {
      await putItem(table, { ...encodeTombstone(tombstone), ttl_at: ttlAt() }, closing('keepTombstone', signal))
    },

    async putStray(stray, signal) {
      const change = { ...setting(encodeDue(stray)), ConditionExpression: `${IS_FREE} OR due_at < :due_at` }
      await updateItem(table, attemptItemKey(stray), change, closing('putStray', signal))
    },

    async removeStray(stray, signal) {
      const condition = { ConditionExpression: 'due_at = :due_at', values: { ':due_at': stray.dueAtMs } }
      await removeItem(table, attemptItemKey(stray), condition, closing('removeStray', signal))
    },

    async setExpiry(document, expiresAt, signal) {
      if (endsSoon(document, now(), leaseMs)) return false
      const due_shard = expiresAt && dueShardOf('expiry', document.documentId)
      const due = { due_at: expiresAt?.getTime(), due_shard }
      const change = settingIfAsRead({ due_at: document.expiresAt?.getTime() }, due, IN_STATE)
      const update = { ...change, values: { ...change.values, ...stateOf(document, 'ready') } }
      const options = { name: 'documents.setExpiry', signal, ...SENT_ONCE }
      return (await updateItem(table, documentKey(document), update, options)).applied
    },
  }
}

/** @param item what a failed condition found instead of the attempt's pending item */
const isRecorded = ({ attemptId }: Attempt, item: Attributes | undefined) => item?.attempt_id?.S === attemptId
