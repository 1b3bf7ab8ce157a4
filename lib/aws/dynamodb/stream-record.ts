import type { BusEvent } from '../../events/ports.ts'
import type { WorkspaceDocument } from '../../ledger/ports/documents.ts'
import { type Attributes, decode } from './codec.ts'
import { DELETED, eventOfEnd, READY } from './document-codec.ts'

/** As Lambda passes it on (Amazon DynamoDB Streams API reference, "Record"). */
export interface StreamRecord {
  dynamodb?: {
    NewImage?: Attributes
    OldImage?: Attributes
    SequenceNumber?: string
    /** In seconds since 1970. */
    ApproximateCreationDateTime?: number
  }
}

/**
 * Of the changes that the filters of infra/resources/events.yml let through. An item that ends loses what describes the
 * document: that is in its former image.
 * @returns undefined for any other @throws UnreadableItemError, and RangeError if it has no time
 */
export function eventOf({ dynamodb = {} }: StreamRecord): BusEvent | undefined {
  const { OldImage = {}, NewImage = {}, ApproximateCreationDateTime: seconds = Number.NaN } = dynamodb
  const change = `${OldImage.item_state?.S} → ${NewImage.item_state?.S}`
  const isMade = change === 'pending → ready'
  if (!isMade && change !== 'ready → deleting') return undefined
  const document = decode<WorkspaceDocument>(READY, isMade ? NewImage : OldImage)
  const occurredAt = new Date(seconds * 1000)
  const detail = {
    workspace_id: document.workspaceId,
    document_id: document.documentId,
    container_id: document.containerId,
    filename: document.filename,
    mime_type: document.mimeType,
    size_bytes: document.sizeBytes,
    sha256: document.sha256 ?? null,
    created_at: document.createdAt.toISOString(),
    expires_at: document.expiresAt?.toISOString() ?? null,
    occurred_at: occurredAt.toISOString(),
    // Made of ledger versions, so it grows with each event of a document id, in whatever order the events arrive.
    sequence: 2 * document.countedFrom + (isMade ? 0 : 1),
  }
  const type = isMade ? 'document.promoted' : eventOfEnd(decode(DELETED, NewImage).event === eventOfEnd(true))
  return { type, detail: JSON.stringify(detail), occurredAt }
}
