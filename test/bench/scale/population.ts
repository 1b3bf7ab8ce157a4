import { marshall } from '@aws-sdk/util-dynamodb'
import { encodeReady } from '../../../lib/aws/dynamodb/document-codec.ts'
import { encodeNewWorkspace } from '../../../lib/aws/dynamodb/workspace-codec.ts'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import type { Item } from '../../support/dynamodb/capacity.ts'

/** Workspaces and documents that are computed from their numbers. */
export interface Population {
  workspaces: number
  documentsEach: number
  /** Omitted: they are kept for ever. */
  expireWithinMs?: number
}

const QUOTA_BYTES = 2 ** 45
const CREATED_AT = new Date('2026-10-01T12:00:00.000Z')
/** The first digits of a UUIDv7 of these years. */
const ATTEMPT_PREFIX = '1BmxK9F5'

export function workspaceIdOf(workspace: number): WorkspaceId {
  return `ws_00000000-0000-7000-8000-${String(workspace).padStart(12, '0')}` as WorkspaceId
}

export function namesOf(workspace: number, document: number) {
  const attemptId = `${ATTEMPT_PREFIX}${digits(workspace, 6)}${digits(document, 8)}` as AttemptId
  const documentId = `file_${attemptId}` as DocumentId
  return { documentId, attemptId, objectKey: `documents/${workspaceIdOf(workspace)}/${documentId}/${attemptId}` }
}

/** The size of a document in bytes: not always the same, so that a wrong sum is noticed. */
export function sizeOf(workspace: number, document: number): number {
  return 1000 + ((workspace * 31 + document * 17) % 9000)
}

/** Some time in the minute, or the time, after that moment: on a whole second, as the product has it. */
export function expiresAtOf(workspace: number, document: number, fromMs: number, withinMs: number): Date {
  return new Date(Math.floor((fromMs + ((workspace * 7919 + document * 104_729) % withinMs)) / 1000) * 1000)
}

export function documentOf(workspace: number, document: number, expiresAt?: Date): WorkspaceDocument {
  return {
    state: 'ready',
    ...namesOf(workspace, document),
    workspaceId: workspaceIdOf(workspace),
    filename: `output/report-${document}.csv` as FilePath,
    mimeType: 'text/csv',
    sizeBytes: sizeOf(workspace, document),
    createdAt: CREATED_AT,
    expiresAt,
    containerId: 'sess_demo-r4k2' as ContainerId,
    sourceEtag: '"1bc29b36f623ba82aaf6724fd3b16718"',
    createdBy: 'key_0190a1b2',
    countedFrom: 1,
  }
}

/** A document's item as the product's own adapters write it. */
export function documentItem(workspace: number, document: number, expiresAt?: Date): Item {
  const item = encodeReady(documentOf(workspace, document, expiresAt))
  return marshall(item, { removeUndefinedValues: true }) as Item
}

export function workspaceItem(workspace: number, { documentsEach }: Population): Item {
  let usedBytes = 0
  for (let document = 0; document < documentsEach; document++) usedBytes += sizeOf(workspace, document)
  const counts = { usedBytes, documents: documentsEach }
  const item = encodeNewWorkspace(workspaceIdOf(workspace), { quotaBytes: QUOTA_BYTES, ...counts, nowMs: Date.now() })
  return marshall(item, { removeUndefinedValues: true }) as Item
}

/** The number in digits without zeros, as ids have none. */
function digits(number: number, length: number): string {
  return String(number).padStart(length, '0').replaceAll('0', 'z')
}
