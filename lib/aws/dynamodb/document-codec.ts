import { createHash } from 'node:crypto'
import type { ListedDocument, ListPosition } from '../../documents/document-listing.ts'
import type { DocumentId } from '../../ids.ts'
import type {
  Attempt,
  DeletedDocument,
  DocumentItem,
  DueKind,
  PendingDocument,
  Stray,
  WorkspaceDocument,
} from '../../ledger/ports/documents.ts'
import { UnreadableItemError } from '../../ledger/ports/unreadable-item.ts'
import { type Attributes, type Codec, decode, encode, nameOf, partOf } from './codec.ts'

const KEPT = { isKept: true } as const
const LISTED = { isListed: true } as const
const BOTH = { ...KEPT, ...LISTED } as const
const OPTIONAL = { isOptional: true } as const

/** A document's attributes. Its place in the index of lists, `listed_at`, and its shard of due work follow from them. */
export const READY = {
  workspace_id: { member: 'workspaceId', kind: 'string', ...KEPT },
  document_id: { member: 'documentId', kind: 'string', ...BOTH },
  item_state: { member: 'state', kind: 'string' },
  attempt_id: { member: 'attemptId', kind: 'string', ...KEPT },
  object_key: { member: 'objectKey', kind: 'string', ...KEPT },
  size_bytes: { member: 'sizeBytes', kind: 'number', ...BOTH },
  counted_from: { member: 'countedFrom', kind: 'number', ...KEPT },
  created_at: { member: 'createdAt', kind: 'date', ...BOTH },
  filename: { member: 'filename', kind: 'string', ...LISTED },
  mime_type: { member: 'mimeType', kind: 'string', ...LISTED },
  due_at: { member: 'expiresAt', kind: 'ms', ...OPTIONAL, ...LISTED },
  container_id: { member: 'containerId', kind: 'string', ...LISTED },
  content_encoding: { member: 'contentEncoding', kind: 'string', ...OPTIONAL },
  source_etag: { member: 'sourceEtag', kind: 'string' },
  sha256: { member: 'sha256', kind: 'string', ...OPTIONAL },
  created_by: { member: 'createdBy', kind: 'string' },
} as const satisfies Codec<WorkspaceDocument>

/** Which event the end of a document is (stream-record.ts). */
export const eventOfEnd = (isExpired: boolean) => (isExpired ? 'document.expired' : 'document.deleted')

type Ended = Omit<DeletedDocument, 'isExpired'> & { event: string }

export const DELETED: Codec<Ended> = {
  ...(partOf<WorkspaceDocument>(READY, 'isKept') as object),
  item_state: { member: 'state', kind: 'string' },
  due_at: { member: 'dueAtMs', kind: 'number', ...OPTIONAL },
  event: { member: 'event', kind: 'string' },
  refund_id: { member: 'refundId', kind: 'string', ...OPTIONAL },
  refund_version: { member: 'refundVersion', kind: 'number', ...OPTIONAL },
}

export const DUE: Codec<PendingDocument | Stray> = {
  workspace_id: { member: 'workspaceId', kind: 'string' },
  item_state: { member: 'state', kind: 'string' },
  attempt_id: { member: 'attemptId', kind: 'string' },
  object_key: { member: 'objectKey', kind: 'string' },
  due_at: { member: 'dueAtMs', kind: 'number' },
}

export const documentKey = ({ workspaceId, documentId }: Pick<Attempt, 'workspaceId' | 'documentId'>) => ({
  workspace_id: workspaceId,
  document_id: documentId as string,
})

/** Beside a document's item, and behind it: where the attempt's object comes in S3's list. */
export const attemptItemKey = ({ workspaceId, documentId, attemptId }: Attempt) => ({
  workspace_id: workspaceId,
  document_id: `${documentId}/${attemptId}`,
})

const LISTED_ATTRIBUTES = partOf<WorkspaceDocument>(READY, 'isListed') as Codec<ListedDocument>
/** The attributes of a list's entries, for a projection. */
export const LIST_PROJECTION = Object.keys(LISTED_ATTRIBUTES).join(', ')

/** Attributes that only a document has: deleting it removes them. */
export const ONLY_OF_READY = [...Object.keys(READY).filter((name) => !(name in DELETED)), 'listed_at']

export const encodeReady = (document: WorkspaceDocument) => ({
  ...encode<WorkspaceDocument>(READY, document),
  listed_at: listedAt(document),
  due_shard: document.expiresAt && dueShardOf('expiry', document.documentId),
})

/** Without its keys. */
export function encodeDue(item: PendingDocument | Stray) {
  const { workspace_id: _, ...attributes } = encode(DUE, item)
  return { ...attributes, due_shard: dueShardOf('work', item.documentId) }
}

export const encodeTombstone = (tombstone: DeletedDocument) => ({
  ...encode(DELETED, { ...tombstone, event: eventOfEnd(tombstone.isExpired === true) }),
  ...attemptItemKey(tombstone),
})

/** Whether callers see nothing of this item any more: a tombstone that DynamoDB has not deleted in time. */
export const isForgotten = ({ ttl_at }: Attributes, nowMs: number) => Number(ttl_at?.N) * 1000 <= nowMs

/** @throws UnreadableItemError */
export function decodeItem(attributes: Attributes): DocumentItem | Stray {
  const state = attributes.item_state?.S as (DocumentItem | Stray)['state'] | undefined
  // The key of what stands beside a document has the attempt, too.
  const documentId = attributes.document_id?.S?.split('/')[0] as DocumentId
  switch (state) {
    case 'ready':
      return decode<WorkspaceDocument>(READY, attributes)
    case 'pending':
    case 'stray':
      return { ...decode(DUE, attributes), documentId } as PendingDocument | Stray
    case 'deleting':
    case 'gone': {
      const { event, ...ended } = decode(DELETED, attributes)
      const isExpired = event === eventOfEnd(true)
      return { ...ended, documentId, ...(isExpired && { isExpired }) }
    }
    default:
      throw new UnreadableItemError(`${nameOf(attributes)} cannot be read: item_state is ${state ?? 'missing'}`)
  }
}

/** @throws UnreadableItemError */
export const decodeListed = (attributes: Attributes) => decode<ListedDocument>(LISTED_ATTRIBUTES, attributes)

/** The order of creation as text: the moment in ISO 8601, then the id to break ties. It never changes. */
export const listedAt = ({ createdAt, documentId }: Pick<WorkspaceDocument, 'createdAt' | 'documentId'>) =>
  `${createdAt.toISOString()} ${documentId}`

/** Of an entry of the list, by its key. */
export function decodePosition({ listed_at }: Attributes): ListPosition {
  const [createdAt = '', documentId] = listed_at?.S?.split(' ') ?? []
  return { createdAt: new Date(createdAt), documentId: documentId as DocumentId }
}

/** May grow, but never shrink: entries stay in their shard. resolve-due-work.yml gives each shard to a run. */
export const DUE_SHARDS: readonly number[] = Array.from({ length: 16 }, (_, shard) => shard)

export const dueShard = (kind: DueKind, shard: number) => `${kind} ${shard}`

/** Spreads the index of due work by document, as one busy workspace would fill a shard. */
export function dueShardOf(kind: DueKind, documentId: DocumentId): string {
  return dueShard(kind, (createHash('sha256').update(documentId).digest()[0] ?? 0) % DUE_SHARDS.length)
}
