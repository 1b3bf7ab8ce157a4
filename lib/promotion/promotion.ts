import type { Caller } from '../auth/caller.ts'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../ids.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import type { WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { StorageUsage } from '../ledger/ports/quota-ledger.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Admission } from './admission.ts'
import type { ObjectStore } from './ports/object-store.ts'

export interface PromotionRequest extends RequestScope {
  caller: Caller
  /** Not validated yet. */
  containerId: string | undefined
  fileId: string | undefined
  /** Promotions of a workspace with the same key make one document. */
  idempotencyKey: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups run in parallel; nothing is written before it resolves. */
  rateLimitPassed: Promise<unknown>
}

export interface PromotionDependencies extends LedgerDependencies {
  objects: ObjectStore
  admission: Admission
  objectKeys: ObjectKeys
  maxFileBytes: number
}

/** What a request is to promote, and the document that it is to make. */
export interface PromotionTarget {
  workspaceId: WorkspaceId
  documentId: DocumentId
  attemptId: AttemptId
  containerId: ContainerId
  path: FilePath
}

export interface Promotion {
  document: WorkspaceDocument
  /** Whether an earlier request with the same idempotency key made the document. */
  isReplayed: boolean
  /** undefined when a replay could not read it. */
  usage: StorageUsage | undefined
}

/** How far an attempt got before it failed. */
export interface Progress {
  /** Whether the bytes were taken, as far as is known. */
  isTaken: boolean
  /** `unknown`: there may be one, or there may yet be. */
  reservation: 'none' | 'claimed' | 'unknown' | 'reserved'
  copy: 'none' | 'unanswered' | 'answered'
  /** Whether the marker is gone, so that the reservation alone holds the bytes. Never rejects. */
  unmarked: Promise<boolean>
}
