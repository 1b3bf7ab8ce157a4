import type { Caller } from '../auth/caller.ts'
import type { Expiry } from '../ledger/expiry.ts'
import type { ObjectKeys } from '../object-keys.ts'
import type { Admission } from '../promotion/admission.ts'
import type { ObjectStore } from '../promotion/ports/object-store.ts'
import type { Preconditions } from '../promotion/preconditions.ts'
import type { PromotionTarget } from '../promotion/promotion.ts'
import type { RequestScope } from '../telemetry.ts'
import type { ProtocolDependencies } from './dependencies.ts'
import type { WorkspaceDocument } from './ports/documents.ts'
import type { StorageUsage } from './ports/ledger.ts'

export type { PromotionTarget }

export interface AttemptRequest extends RequestScope {
  caller: Caller
  preconditions?: Preconditions | undefined
  /** After how long the document is to expire, unless its workspace is stricter. */
  expiresInSeconds?: number | undefined
}

export interface PromotionDependencies extends ProtocolDependencies {
  objects: ObjectStore
  objectKeys: ObjectKeys
  admission: Admission
}

/** What a request comes to. */
export interface Promotion {
  document: WorkspaceDocument
  /** Whether an earlier request has made the document. */
  isReplayed: boolean
  /** undefined when it was not read. */
  usage?: StorageUsage | undefined
  /** Of a document that will expire: after how long, and who has said so. */
  expiry?: Expiry | undefined
}
