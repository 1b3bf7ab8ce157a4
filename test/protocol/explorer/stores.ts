import { checkShardOf } from '../../../lib/aws/dynamodb/workspace-item.ts'
import type { DocumentListing } from '../../../lib/documents/document-listing.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { hasExpired } from '../../../lib/ledger/expiry.ts'
import type { DocumentExpiries } from '../../../lib/ledger/ports/document-expiries.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import type { Log } from '../../../lib/logging.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { createFakeDocumentExpiries } from '../../support/fakes/document-expiries.ts'
import { createFakeDocumentListing } from '../../support/fakes/document-listing.ts'
import { createFakeDownloadSigner } from '../../support/fakes/download-signer.ts'
import { createPorts, type Ports } from '../../support/ports.ts'
import { Drifts } from './drifts.ts'
import { Timeline } from './timeline.ts'

export const WORKSPACES = 2
export const FILES = 3
export const SILENT: Log = { info() {}, warn() {}, error() {}, with: () => SILENT }
export const workspaceOf = (index: number) => `ws_${index % WORKSPACES}` as WorkspaceId
/** Of the workspaces, in the index of expiries. */
export const SHARDS = [...new Set([0, 1].map((index) => Number(checkShardOf(workspaceOf(index)))))]

export interface Circumstances {
  quotaBytes?: number
  maxTakings?: number
  /** Time passes for leases, not for processes: a promotion may go on when its lease is over. */
  areLeasesWrong?: boolean
}

/** What all processes share: the stores, in memory, and one clock. */
export class Stores {
  readonly ledger: Ports['ledger']
  readonly reservations: Ports['reservations']
  readonly documents: Ports['documents']
  readonly objects: Ports['objects']
  readonly #deps: Ports['deps']
  readonly timeline = new Timeline()
  readonly drifts: Drifts
  readonly maxTakings: number
  readonly areLeasesWrong: boolean
  nowMs = 1_800_000_000_000
  wasClockWrong = false
  wasSetBack = false
  /** The latest time of all processes that delete what has expired, by the clock of each. */
  expiredByMs = 0
  #content = 0

  constructor({ quotaBytes = 100, maxTakings = Number.POSITIVE_INFINITY, areLeasesWrong = false }: Circumstances) {
    const ports = createPorts({ defaultQuotaBytes: quotaBytes, maxTakings, clock: this })
    ;({
      ledger: this.ledger,
      reservations: this.reservations,
      documents: this.documents,
      objects: this.objects,
    } = ports)
    this.#deps = ports.deps
    this.maxTakings = maxTakings
    this.areLeasesWrong = areLeasesWrong
    this.drifts = new Drifts(this.ledger)
    for (let workspace = 0; workspace < WORKSPACES; workspace++) {
      for (let file = 0; file < FILES; file++) this.overwrite(workspace, file, 10 * (file + 1))
    }
  }

  /** Puts a file into a container. */
  overwrite(workspace: number, file: number, sizeBytes: number): void {
    const key = `sandboxes/${workspaceOf(workspace)}/sess_1/file-${file}`
    this.objects.sandbox.set(key, { bytes: Buffer.alloc(sizeBytes, this.#content++), contentType: 'text/plain' })
  }

  /** To be called after each change. */
  observe(): void {
    this.timeline.observe(this.documents.documents, this.nowMs)
  }

  documentsOf(workspaceId: WorkspaceId): WorkspaceDocument[] {
    return [...this.documents.documents.values()].filter((document) => document.workspaceId === workspaceId)
  }

  /** The service's ports, for a process that stops at each of their calls, or for none. */
  dependencies(gate: <Store extends object>(store: Store, name: string) => Store = (store) => store, aheadMs = 0) {
    const ledger = gate(this.ledger, 'ledger')
    const objects = gate(this.objects, 'objects')
    const now = () => this.nowMs + aheadMs
    const { timeline, documents: records } = this
    const { setExpiry } = createFakeDocumentExpiries(records, now)
    // The adapter asks the clock when it sends, not when the write arrives.
    const sent = gate({ setExpiry: createFakeDocumentExpiries(records, () => 0).setExpiry }, 'expiries')
    /** An index whose entries are behind, each by so many moments. */
    const behind = (lagOf: (documentId: string) => number) => ({
      tombstones: records.tombstones,
      get documents() {
        return timeline.asIndexed(lagOf)
      },
    })
    const expiriesBehind = (lag = 0): DocumentExpiries => {
      const index = behind(() => lag)
      return {
        ...gate(createFakeDocumentExpiries(index, now), 'expiries'),
        setExpiry: async (read, ...to) => !hasExpired(read, now()) && sent.setExpiry(read, ...to),
      }
    }
    return {
      ...this.#deps,
      quota: ledger,
      workspaces: ledger,
      reservations: gate(this.reservations, 'reservations'),
      admission: createAdmission({ now: () => this.nowMs }),
      documents: gate(this.documents, 'documents'),
      objects,
      documentObjects: objects,
      downloads: createFakeDownloadSigner(),
      listingBehind: (lagOf: (documentId: string) => number): DocumentListing =>
        gate(createFakeDocumentListing(behind(lagOf), now), 'listing'),
      expiries: expiriesBehind(),
      expiriesBehind,
      administration: gate({ setExpiry }, 'expiries'),
      maxFileBytes: 1000,
      now,
      log: SILENT,
    }
  }
}
