import type { Caller } from '../auth/caller.ts'
import type { FileLocation } from '../containers/require-container-file.ts'
import type { LedgerDependencies } from '../ledger/dependencies.ts'
import type { Expiry } from '../ledger/expiry.ts'
import type { Attempt, WorkspaceDocument } from '../ledger/ports/documents.ts'
import type { StorageUsage } from '../ledger/ports/ledger.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { RequestScope } from '../telemetry.ts'
import type { Admission } from './admission.ts'
import type { ObjectStore } from './ports/object-store.ts'
import type { Preconditions } from './preconditions.ts'
import type { Room } from './room.ts'

export interface AttemptRequest extends RequestScope {
  caller: Caller
  room: Room
  /** Another request may have made the document, or may be about to. */
  mayHaveTwin: boolean
  preconditions?: Preconditions | undefined
  /** After how long the document is to expire, unless its workspace is stricter. */
  expiresInSeconds?: number | undefined
}

export interface PromotionRequest extends Omit<AttemptRequest, 'room' | 'mayHaveTwin'> {
  idempotencyKey: string | undefined
  containerId: string | undefined
  fileId: string | undefined
  /** Rejects when the rate limit refuses the request. Lookups run in parallel; nothing is written before it resolves. */
  rateLimitPassed: Promise<unknown>
  /** Counts up to so many besides the request, which counts as one. @returns how many the rate limit allows now */
  countMore(most: number): Promise<number>
  /** How long until this many more, or a whole burst, are allowed; 0 if they are now. */
  pauseMs(count: number): number
}

export interface PromotionDependencies extends LedgerDependencies {
  objects: ObjectStore
  admission: Admission
  objectKeys: ObjectKeys
  maxFileBytes: number
  defaultQuotaBytes: number
}

/** The file that a request is to promote, and the document that it is to make. */
export interface PromotionTarget extends FileLocation, Omit<Attempt, 'objectKey'> {}

export interface Promotion {
  document: WorkspaceDocument
  isReplayed: boolean
  usage?: StorageUsage | undefined
  /** For a document that will expire: after how long, and who has said so. */
  expiry?: Expiry | undefined
}
