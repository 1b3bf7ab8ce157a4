import type { DocumentId, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { DocumentOfAttempt, DocumentRecords } from '../../ledger/ports/document-records.ts'
import { CLOSING, SENT_ONCE, type SendOptions } from '../calls/send.ts'
import {
  documentKey,
  IS_ATTEMPTS_DOCUMENT,
  type RecordItem,
  readDeleted,
  readDocument,
  readRecord,
  tombstoneTtlAt,
  toUpdate,
} from './document-item.ts'
import type { Attributes } from './stored-item.ts'
import { openTable, type TableSettings, type Update } from './table.ts'

const HAS_EXPIRED = `(${IS_ATTEMPTS_DOCUMENT} AND due_at <= :expired_by)`
const IS_FREE = 'attribute_not_exists(document_id)'
const IS_THERE = 'attribute_exists(document_id)'
const IS_TOMBSTONE = 'record_kind = :tombstone'
/** DynamoDB's TTL removes an expired item some time later. */
const IS_FORGOTTEN = 'ttl_at <= :now'
const WAS_NO_DOCUMENT = 'attribute_not_exists(attempt_id)'
const IS_NOT_FENCED = '(attribute_not_exists(fenced_through) OR fenced_through < :attempt_id)'
const IS_NOT_OWN = '(NOT attempt_id = :attempt_id AND NOT replaced.attempt_id = :attempt_id)'
const IS_RECORDABLE = `${IS_FREE} OR (${IS_TOMBSTONE} AND (${IS_FORGOTTEN} OR (${WAS_NO_DOCUMENT} AND ${IS_NOT_FENCED})))`
/** Its document was deleted, and its bytes are given back. */
const IS_REPLACEABLE = `(${IS_TOMBSTONE} AND attempt_id = :before AND attribute_exists(ttl_at) AND ${IS_NOT_FENCED})`
/** Its document was deleted, and its bytes are not given back yet. */
const IS_UNRELEASED = `(${IS_TOMBSTONE} AND attempt_id = :attempt_id AND attribute_not_exists(ttl_at))`
const REMOVE_REMAINS =
  'REMOVE attempt_id, object_key, created_at, size_bytes, counted_from, released_by, marked_in, due_at, deleted_at, replaced'
const REMOVE_UNREMEMBERED =
  'REMOVE filename, mime_type, listed_at, container_id, content_encoding, source_etag, sha256, created_by, due_shard'

const TOMBSTONE = { ':tombstone': 'tombstone' }

/** The conditions are the protocol's (docs/reliability.md). */
export function createDocumentRecords(settings: TableSettings & { now(): number }): DocumentRecords {
  const { now } = settings
  const table = openTable(settings)
  const nowValue = () => ({ ':now': Math.floor(now() / 1000) })
  const read = (workspaceId: WorkspaceId, documentId: DocumentId, signal: AbortSignal) =>
    table.get(documentKey(workspaceId, documentId), { name: 'documents.find', signal })
  const readEvenDeleted = (item: Attributes) =>
    item.record_kind?.S === 'document' ? readDocument(item) : readDeleted(item, now())

  return {
    async record(document, signal, replaced) {
      const { keys: _, ...all } = toUpdate(document, replaced)
      const before = replaced && { ':before': replaced.attemptId }
      const change = {
        ...all,
        ConditionExpression: before ? `${IS_RECORDABLE} OR ${IS_REPLACEABLE}` : IS_RECORDABLE,
        values: { ...all.values, ...TOMBSTONE, ...nowValue(), ...before },
      }
      const { existing } = await update(document, change, { name: 'documents.record', signal, ...SENT_ONCE })
      if (existing === undefined) return 'recorded'
      return existing.attempt_id === undefined ? 'fenced' : 'exists'
    },

    async fence(attempt, signal) {
      const options = { name: 'documents.fence', signal, ...CLOSING }
      const fenced = { ':attempt_id': attempt.attemptId }
      const asTombstone = {
        UpdateExpression: `SET record_kind = :tombstone, ttl_at = :ttl_at, fenced_through = :attempt_id ${REMOVE_REMAINS}`,
        ConditionExpression: IS_RECORDABLE,
        values: { ...fenced, ...TOMBSTONE, ...nowValue(), ':ttl_at': tombstoneTtlAt(now()) },
      }
      if ((await update(attempt, asTombstone, options)).existing === undefined) return 'fenced'
      // A document, or what is left of a deleted one, keeps this attempt out only while it is there.
      const besideIt = {
        UpdateExpression: 'SET fenced_through = :attempt_id',
        ConditionExpression: `${IS_THERE} AND ${IS_NOT_FENCED} AND ${IS_NOT_OWN}`,
        values: fenced,
      }
      const { existing } = await update(attempt, besideIt, options)
      const recorded = [existing?.attempt_id, existing?.replaced?.attempt_id]
      return recorded.includes(attempt.attemptId) ? 'recorded' : 'fenced'
    },

    async find(workspaceId, documentId, signal) {
      const item = await read(workspaceId, documentId, signal)
      return item?.record_kind?.S === 'document' ? readDocument(item) : undefined
    },

    async findEvenDeleted(workspaceId, documentId, signal) {
      const item = await read(workspaceId, documentId, signal)
      return item && readEvenDeleted(item)
    },

    async findAllEvenDeleted(workspaceId, documentIds, signal) {
      const keys = documentIds.map((id) => documentKey(workspaceId, id))
      const items = await table.getAll(keys, { name: 'documents.findAll', signal })
      return items.map(readEvenDeleted).filter((each) => each !== undefined)
    },

    async delete(document, signal, expiredByMs) {
      const isMeant = expiredByMs === undefined ? IS_ATTEMPTS_DOCUMENT : HAS_EXPIRED
      const change = {
        // The first time counts: a tombstone is only told that it is one.
        UpdateExpression: `SET record_kind = :tombstone, deleted_at = if_not_exists(deleted_at, :deleted_at) ${REMOVE_UNREMEMBERED}`,
        ConditionExpression: `${isMeant} OR ${IS_UNRELEASED}`,
        values: {
          ...TOMBSTONE,
          ':document': 'document',
          ':attempt_id': document.attemptId,
          ':deleted_at': expiredByMs ?? now(),
          ...(expiredByMs !== undefined && { ':expired_by': expiredByMs }),
        },
        ReturnValues: 'ALL_NEW',
      } as const
      const { output } = await update(document, change, { name: 'documents.delete', signal, ...CLOSING })
      return output && { releasedBy: output.released_by as ReleaseId | undefined }
    },

    async handOver(release, signal) {
      const change = {
        UpdateExpression: 'SET released_by = :release_id, marked_in = :version',
        ConditionExpression: `${IS_UNRELEASED} AND attribute_not_exists(released_by)`,
        values: {
          ...TOMBSTONE,
          ':attempt_id': release.attemptId,
          ':release_id': release.releaseId,
          ':version': release.markedIn,
        },
      }
      const { existing } = await update(release, change, { name: 'documents.handOver', signal, ...CLOSING })
      if (existing === undefined) return release.releaseId
      const isUnreleased = existing.record_kind === 'tombstone' && existing.ttl_at === undefined
      if (!isUnreleased || existing.attempt_id !== release.attemptId) return undefined
      return existing.released_by as ReleaseId | undefined
    },

    async expireTombstone(release, signal) {
      const change = {
        UpdateExpression: 'SET ttl_at = :ttl_at',
        ConditionExpression: 'released_by = :release_id',
        values: { ':release_id': release.releaseId, ':ttl_at': tombstoneTtlAt(now()) },
      }
      const options = { name: 'documents.expireTombstone', signal, ...CLOSING }
      await table.update(documentKey(release.workspaceId, release.documentId), change, options)
    },
  }

  /** @returns what stood in the way, or the item after the write if the change asks for it */
  async function update(
    { workspaceId, documentId }: Pick<DocumentOfAttempt, 'workspaceId' | 'documentId'>,
    change: Update,
    options: SendOptions,
  ): Promise<{ existing?: RecordItem; output?: RecordItem | undefined }> {
    const { applied, item } = await table.update(documentKey(workspaceId, documentId), change, options)
    // Without an item, DynamoDB has removed what was there.
    if (!applied) return { existing: item ? readRecord(item) : ({} as RecordItem) }
    return { output: item && readRecord(item) }
  }
}
