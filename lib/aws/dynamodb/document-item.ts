import type { AttemptId, ContainerId, DocumentId, FilePath, ReleaseId, WorkspaceId } from '../../ids.ts'
import type { CountedBytes, DeletedDocument, WorkspaceDocument } from '../../ledger/ports/document-records.ts'
import { type Attributes, readItem } from './stored-item.ts'
import { setting } from './table.ts'
import { checkShardOf } from './workspace-item.ts'

/** What is stored under a document id: the document, or a tombstone that keeps fenced attempts from recording it. */
export type RecordItem = DocumentItem | TombstoneItem

interface Remembered {
  /** Attempts up to this one may no longer record a document here: attempt ids sort by time. */
  fenced_through?: string
  /** The deleted document whose place it took. */
  replaced?: Pick<TombstoneItem, 'attempt_id' | 'size_bytes' | 'counted_from' | 'released_by' | 'marked_in'>
}

export interface DocumentItem extends Remembered {
  record_kind: 'document'
  released_by?: never
  ttl_at?: never
  workspace_id: string
  document_id: string
  attempt_id: string
  object_key: string
  filename: string
  mime_type: string
  size_bytes: number
  /** ISO 8601, UTC. */
  created_at: string
  /** In both indexes: when it expires, ms since 1970. Missing: it is kept for ever. */
  due_at?: number
  due_shard?: string
  container_id: string
  content_encoding?: string
  /** The ETag of the container's file. */
  source_etag: string
  /** In hex. Missing in items of files copied in parts. */
  sha256?: string
  created_by: string
  /** The first version of the ledger that counts its bytes. */
  counted_from: number
  /** Its place in the index of lists (see listedAt). */
  listed_at: string
}

export interface TombstoneItem extends Remembered {
  record_kind: 'tombstone'
  workspace_id: string
  document_id: string
  /** The deleted document: the attempt that made it, and its object. Missing: it never was a document. */
  attempt_id?: string
  object_key?: string
  /** The release that gives its bytes back, and a version of the ledger up to which they are counted for certain. */
  released_by?: string
  marked_in?: number
  /** Its place in the list, for cursors, and how it was counted. */
  created_at?: string
  size_bytes?: number
  counted_from?: number
  /** ms since 1970. It was deleted because it had expired if `due_at` is not after `deleted_at`. */
  due_at?: number
  deleted_at?: number
  /**
   * Seconds since 1970; DynamoDB's TTL removes the tombstone some time later. Missing while its bytes are not given
   * back: the tombstone holds them.
   */
  ttl_at?: number
}

/** Needs `:document`, `:attempt_id`. */
export const IS_ATTEMPTS_DOCUMENT = '(record_kind = :document AND attempt_id = :attempt_id)'

export const documentKey = (workspaceId: WorkspaceId, documentId: DocumentId) => ({
  workspace_id: workspaceId,
  document_id: documentId,
})

/** Far longer than a late write can take to arrive. For that long, a repeated deletion is answered like the first. */
const TOMBSTONE_SECONDS = 24 * 60 * 60

/** For a tombstone made now, in the form that DynamoDB's TTL needs. */
export const tombstoneTtlAt = (nowMs: number): number => Math.ceil(nowMs / 1000) + TOMBSTONE_SECONDS

/** @throws UnreadableItemError */
export function readRecord(attributes: Attributes): RecordItem {
  return readItem<RecordItem>(attributes, { record_kind: 'string' }, KEYS)
}

/** @returns undefined for what was never a document, or is no longer remembered. @throws UnreadableItemError */
export function readDeleted(attributes: Attributes, nowMs: number): DeletedDocument | undefined {
  const item = readItem<TombstoneItem>(attributes, {}, KEYS)
  const { attempt_id, ttl_at, due_at, released_by, marked_in: markedIn } = item
  if (attempt_id === undefined || (ttl_at !== undefined && ttl_at * 1000 <= nowMs)) return undefined
  const { object_key, size_bytes, deleted_at } = readItem<Required<TombstoneItem>>(attributes, DELETED, KEYS)
  return {
    workspaceId: item.workspace_id as WorkspaceId,
    documentId: item.document_id as DocumentId,
    attemptId: attempt_id as AttemptId,
    objectKey: object_key,
    sizeBytes: size_bytes,
    countedFrom: item.counted_from ?? 0,
    ...(released_by !== undefined && { releasedBy: released_by as ReleaseId, markedIn }),
    isGivenBack: ttl_at !== undefined,
    ...(due_at !== undefined && due_at <= deleted_at && { isExpired: true }),
    isDeleted: true,
  }
}

/** @throws UnreadableItemError */
export function readDocument(attributes: Attributes): WorkspaceDocument {
  return toDocument(readItem<DocumentItem>(attributes, REQUIRED, KEYS))
}

const KEYS = ['workspace_id', 'document_id']

const DELETED = { object_key: 'string', size_bytes: 'number', deleted_at: 'number' } as const

const REQUIRED = {
  attempt_id: 'string',
  object_key: 'string',
  filename: 'string',
  mime_type: 'string',
  size_bytes: 'number',
  created_at: 'string',
  container_id: 'string',
  source_etag: 'string',
  created_by: 'string',
  counted_from: 'number',
} as const

/** A document as an update: its key, and all else, without what a tombstone may have had. */
export function toUpdate(document: WorkspaceDocument, before?: CountedBytes) {
  const { workspace_id, document_id, ...attributes } = toItem(document)
  const replaced = before && {
    attempt_id: before.attemptId,
    size_bytes: before.sizeBytes,
    counted_from: before.countedFrom,
    released_by: before.releasedBy,
    marked_in: before.markedIn,
  }
  const ofTombstone = { ttl_at: undefined, released_by: undefined, marked_in: undefined, deleted_at: undefined }
  return { keys: { workspace_id, document_id }, ...setting({ ...attributes, ...ofTombstone, replaced }) }
}

/**
 * The order of creation as text: the moment in ISO 8601, then the id to break ties. Nothing that may change: a list that
 * is under way would show a document twice, or not.
 */
export const listedAt = ({ createdAt, documentId }: Pick<WorkspaceDocument, 'createdAt' | 'documentId'>) =>
  `${createdAt.toISOString()} ${documentId}`

/** Its place in the index of expiries, if it has one. */
export function expiryOf({ workspaceId, expiresAt }: Pick<WorkspaceDocument, 'workspaceId' | 'expiresAt'>) {
  return { due_at: expiresAt?.getTime(), due_shard: expiresAt && checkShardOf(workspaceId) }
}

/** The expiry of a document, if it has one. */
export const withExpiry = ({ due_at }: Pick<DocumentItem, 'due_at'>) =>
  due_at === undefined ? {} : { expiresAt: new Date(due_at) }

function toItem(document: WorkspaceDocument) {
  return {
    record_kind: 'document',
    workspace_id: document.workspaceId,
    document_id: document.documentId,
    attempt_id: document.attemptId,
    object_key: document.objectKey,
    filename: document.filename,
    mime_type: document.mimeType,
    size_bytes: document.sizeBytes,
    created_at: document.createdAt.toISOString(),
    container_id: document.containerId,
    content_encoding: document.contentEncoding,
    source_etag: document.sourceEtag,
    sha256: document.sha256,
    created_by: document.createdBy,
    counted_from: document.countedFrom,
    listed_at: listedAt(document),
    ...expiryOf(document),
  } satisfies Record<keyof Omit<DocumentItem, keyof Remembered | 'released_by' | 'ttl_at'>, unknown>
}

function toDocument(item: DocumentItem): WorkspaceDocument {
  return {
    workspaceId: item.workspace_id as WorkspaceId,
    documentId: item.document_id as DocumentId,
    attemptId: item.attempt_id as AttemptId,
    objectKey: item.object_key,
    filename: item.filename as FilePath,
    mimeType: item.mime_type,
    sizeBytes: item.size_bytes,
    createdAt: new Date(item.created_at),
    ...withExpiry(item),
    containerId: item.container_id as ContainerId,
    ...(item.content_encoding !== undefined && { contentEncoding: item.content_encoding }),
    sourceEtag: item.source_etag,
    ...(item.sha256 !== undefined && { sha256: item.sha256 }),
    createdBy: item.created_by,
    countedFrom: item.counted_from,
  }
}
