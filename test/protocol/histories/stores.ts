import type { DocumentListing } from '../../../lib/documents/document-listing.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { Log } from '../../../lib/logging.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { createFakeDocumentListing } from '../../support/fakes/document-listing.ts'
import { createFakeDocumentRecords } from '../../support/fakes/document-records.ts'
import { createFakeDownloadSigner } from '../../support/fakes/download-signer.ts'
import { createFakeObjectStore } from '../../support/fakes/object-store.ts'
import { createFakeQuotaLedger, type FakeQuotaLedger } from '../../support/fakes/quota-ledger.ts'
import { createFakeReservations } from '../../support/fakes/reservations.ts'
import { FILES, WORKSPACES, workspaceOf } from './action.ts'
import type { Process } from './process.ts'
import { Timeline } from './timeline.ts'

export const LEASE_MS = 120_000
export const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }

/** What all processes share: the stores, in memory, and one clock. */
export class Stores {
  readonly ledger: FakeQuotaLedger
  readonly reservations = createFakeReservations()
  readonly documents = createFakeDocumentRecords(() => this.nowMs)
  readonly objects = createFakeObjectStore()
  readonly timeline = new Timeline()
  nowMs = 1_800_000_000_000
  readonly #objectKeys = createObjectKeys({
    sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
    document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
  })
  #content = 0

  constructor({ quotaBytes = 100, maxTakings }: { quotaBytes?: number; maxTakings?: number } = {}) {
    this.ledger = createFakeQuotaLedger({ defaultQuotaBytes: quotaBytes, ...(maxTakings && { maxTakings }) })
    for (let workspace = 0; workspace < WORKSPACES; workspace++) {
      for (let file = 0; file < FILES; file++) this.overwrite(workspace, file, 10 * (file + 1))
    }
  }

  /** Puts a file into a container. */
  overwrite(workspace: number, file: number, sizeBytes: number): void {
    const key = `sandboxes/${workspaceOf(workspace)}/sess_1/file-${file}`
    this.objects.sandbox.set(key, { bytes: Buffer.alloc(sizeBytes, this.#content++), contentType: 'text/plain' })
  }

  observe(): void {
    this.timeline.observe(this.documents.documents)
  }

  documentsOf(workspaceId: WorkspaceId): WorkspaceDocument[] {
    return [...this.documents.documents.values()].filter((document) => document.workspaceId === workspaceId)
  }

  /** The service's ports, for a process that stops at each of their calls, or for none. */
  dependencies(process?: Process, aheadMs = 0) {
    const gate = <Store extends object>(store: Store, name: string): Store => process?.gate(store, name) ?? store
    return {
      quota: gate(this.ledger, 'ledger'),
      workspaces: gate(this.ledger, 'ledger'),
      reservations: gate(this.reservations, 'reservations'),
      admission: createAdmission({ now: () => this.nowMs }),
      documents: gate(this.documents, 'documents'),
      objects: gate(this.objects, 'objects'),
      documentObjects: gate(this.objects, 'objects'),
      downloads: createFakeDownloadSigner(),
      listing: gate(createFakeDocumentListing(this.documents), 'listing'),
      /** Lists from an index whose entries are behind, each by a delay of its own. */
      listingBehind: (lagOf: (documentId: string) => number): DocumentListing => {
        const timeline = this.timeline
        const index = createFakeDocumentListing({
          ...this.documents,
          get documents() {
            return timeline.asIndexed(lagOf)
          },
        })
        return gate(index, 'listing')
      },
      objectKeys: this.#objectKeys,
      maxFileBytes: 1000,
      leaseMs: LEASE_MS,
      now: () => this.nowMs + aheadMs,
      log: SILENT,
    }
  }
}
