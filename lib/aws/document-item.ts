import { marshall } from '@aws-sdk/util-dynamodb'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../ids.ts'
import type { StoredDocument } from '../maintenance/document-maintenance.ts'
import type { WorkspaceDocument } from '../promotion/document-records.ts'
import type { FormerItem } from './former-documents.ts'
import { listedAt } from './listing-index.ts'
import { type Attributes, readItem } from './stored-item.ts'

/** What stands under a document id: the document, or a tombstone that keeps given-up attempts from recording it. */
export type RecordItem = DocumentItem | TombstoneItem

interface Remembered {
  /** No attempt up to this one may record a document here any more: attempt ids sort by time. */
  fenced_through?: string
  /** Documents that stood here before, or do no more: a record over a tombstone leaves them. */
  former?: Record<string, FormerItem>
}

export interface DocumentItem extends Remembered {
  record_kind: 'document'
  workspace_id: string
  document_id: string
  attempt_id: string
  object_key: string
  filename: string
  mime_type: string
  size_bytes: number
  /** ISO 8601, UTC. */
  created_at: string
  container_id: string
  created_by: string
  /** The first version of the ledger that counts its bytes. Documents of older releases lack it. */
  counted_from?: number
  /** Its place in the listing index: see listedAt. Documents of before the index lack it. */
  listed_at?: string
}

export interface TombstoneItem extends Remembered {
  record_kind: 'tombstone'
  workspace_id: string
  document_id: string
  /** Of a deleted document: the attempt that made it, its object, and the deletion that made the document vanish. */
  attempt_id?: string
  object_key?: string
  retired_by?: string
  /** Of the document it was: its place in the list, for whoever goes on from there; and how it was counted. */
  created_at?: string
  size_bytes?: number
  counted_from?: number
  /**
   * Seconds since 1970; DynamoDB's TTL removes the tombstone some time later. Not there as long as a deletion has bytes to
   * give back: the tombstone is the proof that they are its own.
   */
  expires_at?: number
}

/** Needs `:document`, `:attempt_id`. */
export const IS_ATTEMPTS_DOCUMENT = '(record_kind = :document AND attempt_id = :attempt_id)'

export const documentKey = (workspaceId: WorkspaceId, documentId: DocumentId) =>
  marshall({ workspace_id: workspaceId, document_id: documentId })

/** Far longer than an attempt's late write can take to arrive; a repeated deletion is answered as the first for so long. */
const TOMBSTONE_SECONDS = 24 * 60 * 60

/** When a tombstone expires that is made now, as DynamoDB's TTL wants it. */
export const tombstoneExpiresAt = (nowMs: number): number => Math.ceil(nowMs / 1000) + TOMBSTONE_SECONDS

export const tombstoneMadeAtMs = (expiresAt: number): number => (expiresAt - TOMBSTONE_SECONDS) * 1000

/** @throws UnreadableItemError */
export function readRecord(attributes: Attributes): RecordItem {
  return readItem<RecordItem>(attributes, { record_kind: 'string' }, KEYS)
}

/** As the audit sees it. @throws UnreadableItemError */
export function readStoredDocument(attributes: Attributes): StoredDocument {
  const document = readDocument(attributes)
  return attributes.listed_at?.S === listedAt(document) ? document : { ...document, isUnlisted: true }
}

/** @throws UnreadableItemError */
export function readDocument(attributes: Attributes): WorkspaceDocument {
  return toDocument(readItem<DocumentItem>(attributes, REQUIRED, KEYS))
}

const KEYS = ['workspace_id', 'document_id']

const REQUIRED = {
  attempt_id: 'string',
  object_key: 'string',
  filename: 'string',
  mime_type: 'string',
  size_bytes: 'number',
  created_at: 'string',
  container_id: 'string',
  created_by: 'string',
} as const

/** A document as an update: its keys, and all else as assignments. */
export function toUpdate(document: WorkspaceDocument) {
  const { workspace_id, document_id, ...attributes } = toItem(document)
  const names = Object.keys(attributes)
  return {
    keys: { workspace_id, document_id },
    values: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
    assignments: names.map((name) => `${name} = :${name}`).join(', '),
  }
}

function toItem(document: WorkspaceDocument): DocumentItem {
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
    created_by: document.createdBy,
    ...(document.countedFrom !== undefined && { counted_from: document.countedFrom }),
    listed_at: listedAt(document),
  }
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
    containerId: item.container_id as ContainerId,
    createdBy: item.created_by,
    ...(item.counted_from !== undefined && { countedFrom: item.counted_from }),
  }
}
