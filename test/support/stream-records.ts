import { marshall } from '@aws-sdk/util-dynamodb'
import type { Attributes } from '../../lib/aws/dynamodb/codec.ts'
import { encodeDue, encodeReady, ONLY_OF_READY } from '../../lib/aws/dynamodb/document-codec.ts'
import type { StreamRecord } from '../../lib/aws/dynamodb/stream-record.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { newDocument, pendingOf } from './stores/ledger-values.ts'

let sequenceNumber = 1000

/** As Lambda passes the stream of Documents on: one change of an item. */
export const streamRecordOf = (OldImage: Attributes | undefined, NewImage: Attributes | undefined): StreamRecord => ({
  dynamodb: {
    SequenceNumber: String(++sequenceNumber),
    ApproximateCreationDateTime: 1_795_254_081,
    ...(OldImage && { OldImage }),
    ...(NewImage && { NewImage }),
  },
})

export const imageOf = (item: object | undefined) => item && marshall(item, { removeUndefinedValues: true })
export const streamRecord = (before: object | undefined, after: object | undefined) =>
  streamRecordOf(imageOf(before), imageOf(after))

export const pendingItem = (document: WorkspaceDocument) => ({
  workspace_id: document.workspaceId,
  document_id: document.documentId,
  ...encodeDue(pendingOf(document)),
})
export const readyItem = (document: WorkspaceDocument): Record<string, unknown> => encodeReady(document)

/** What its deletion leaves of it. */
export const deletingItem = (document: WorkspaceDocument, event = 'document.deleted') => {
  const kept = Object.entries(encodeReady(document)).filter(([name]) => !ONLY_OF_READY.includes(name))
  return { ...Object.fromEntries(kept), item_state: 'deleting', event }
}

export const promotion = (document = newDocument()) => streamRecord(pendingItem(document), readyItem(document))

/** Lambda developer guide, "Event filtering": each field that is named has one of these values. Only that is known here. */
export function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((each) => each === value)
  return Object.entries(pattern as object).every(([name, inner]) =>
    matches(inner, (value as Record<string, unknown>)?.[name]),
  )
}
