import type { Caller } from '../auth/caller.ts'
import type { AttemptId, ContainerId, DocumentId, FilePath, WorkspaceId } from '../ids.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import type { Expiry } from '../ledger/expiry.ts'
import type { DocumentExpiries } from '../ledger/ports/document-expiries.ts'
import type { WorkspaceDocument } from '../ledger/ports/document-records.ts'
import type { QuotaLedger, StorageUsage } from '../ledger/ports/quota-ledger.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Admission } from './admission.ts'
import type { ObjectStore } from './ports/object-store.ts'
import type { Preconditions } from './preconditions.ts'

export interface AttemptRequest extends RequestScope {
  caller: Caller
  /** Promotions of a workspace with the same key make one document. */
  idempotencyKey: string | undefined
  /** There was no earlier document just now, nor one that has expired: only a twin can have made it since. */
  hasLookedForEarlier?: boolean
  preconditions?: Preconditions | undefined
  /** After how long the document is to expire, unless its workspace is stricter. */
  expiresInSeconds?: number | undefined
  /** As the ledger's, read once for many files. */
  readUsage?: () => ReturnType<QuotaLedger['usage']>
}

export interface PromotionRequest extends AttemptRequest {
  /** Not validated yet. */
  containerId: string | undefined
  fileId: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups run in parallel; nothing is written before it resolves. */
  rateLimitPassed: Promise<unknown>
  /** Await it before the first pause. @returns how to end the wait @throws ServiceError rate_limited: too many wait */
  beginWait(longestMs: number): Promise<() => Promise<unknown>>
}

export interface PromotionDependencies extends LedgerDependencies {
  objects: ObjectStore
  expiries: Pick<DocumentExpiries, 'nextExpiry' | 'setExpiry'>
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

/** What a request comes to. */
export interface Promotion {
  document: WorkspaceDocument
  /** Whether an earlier request with the same idempotency key made the document. */
  isReplayed: boolean
  /** undefined when it was not read. */
  usage?: StorageUsage | undefined
  /** Of a document that will expire: after how long, and who has said so. */
  expiry?: Expiry | undefined
}

/** What may be there of an attempt, when one of its steps has failed. */
export interface Traces {
  /** Its claim, or its reservation. `unknown`: there may be a reservation, or there may yet be one. */
  reservation: 'none' | 'claim' | 'unknown' | 'reserved'
  hasTaking: boolean
  /** `late_copy`: S3 may still write it. */
  object: 'none' | 'may_exist' | 'late_copy'
}
