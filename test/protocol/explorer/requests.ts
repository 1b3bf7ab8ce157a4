import { audit } from '../../../lib/audit/audit.ts'
import { deleteDocumentForCaller } from '../../../lib/documents/delete-document.ts'
import type { ListedDocument, ListOrder } from '../../../lib/documents/document-listing.ts'
import { downloadDocument } from '../../../lib/documents/download-document.ts'
import { listDocuments } from '../../../lib/documents/list-documents.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { resolveExpiredReservations } from '../../../lib/ledger/resolve-expired-reservations.ts'
import { promoteContainerFile } from '../../../lib/promotion/promote-container-file.ts'
import { createTelemetry } from '../../../lib/telemetry.ts'
import { SILENT, type Stores, workspaceOf } from './stores.ts'

type DocumentPath = Pick<WorkspaceDocument, 'workspaceId' | 'documentId'>

/** What a process does. */
export type Request =
  | { do: 'promote'; workspace: number; file: number; key?: number | undefined }
  /** By a caller, or by the administration. */
  | { do: 'delete'; document: DocumentPath; byApi?: boolean }
  /** @param lags how far behind the index's entries are, in moments */
  | { do: 'list'; workspace: number; order: ListOrder; limit: number; lags: number[] }
  | { do: 'download'; document: DocumentPath }
  /** @param aheadMs by how much the process's clock is wrong: leases that seem to be over may not be */
  | { do: 'resolve'; aheadMs?: number }
  | { do: 'audit'; aheadMs?: number; findsDriftOnly?: true }

type RequestTo<Kind extends Request['do']> = Extract<Request, { do: Kind }>
type Work = (deps: ReturnType<Stores['dependencies']>) => Promise<unknown>

const { signal } = new AbortController()
const DEADLINE = { signal, undoSignal: () => signal }

/** What it calls, and what it must see of the documents that were there meanwhile. */
export function workOf(request: Request, stores: Stores): Work {
  switch (request.do) {
    case 'promote':
      return promotion(request)
    case 'delete':
      return request.byApi ? deletion(request, stores) : (deps) => deleteDocument(request.document, deps, signal)
    case 'list':
      return listing(request, stores)
    case 'download':
      return download(request, stores)
    case 'resolve':
      return (deps) => resolveExpiredReservations({ maxResolutions: 10 }, deps, signal)
    case 'audit':
      return (deps) => stores.drifts.watch((options) => audit(options, deps, signal), request.findsDriftOnly)
  }
}

function promotion({ workspace, file, key }: RequestTo<'promote'>): Work {
  const workspaceId = workspaceOf(workspace)
  return (deps) =>
    promoteContainerFile(
      {
        caller: { keyId: 'key', workspaceId, kind: 'management', permissions: [], userId: undefined },
        containerId: 'sess_1',
        fileId: formatFileId(`file-${file}`),
        idempotencyKey: key === undefined ? undefined : `key-${key}`,
        rateLimitPassed: Promise.resolve(),
        deadline: DEADLINE,
        log: SILENT,
        telemetry: createTelemetry(),
      },
      deps,
    )
}

function deletion({ document }: RequestTo<'delete'>, { timeline }: Stores): Work {
  const began = timeline.moment
  const { workspaceId, documentId } = document
  return async (deps) => {
    const listing = deps.listingBehind(() => 0)
    await deleteDocumentForCaller({ workspaceId, documentId, log: SILENT }, { ...deps, listing }, signal)
    if (timeline.since(began, workspaceId, documentId).all)
      throw new Error(`${documentId}: answered 200, and was there all the time`)
  }
}

function listing({ workspace, order, limit, lags }: RequestTo<'list'>, { timeline }: Stores): Work {
  const workspaceId = workspaceOf(workspace)
  const from = timeline.moment
  return async ({ listingBehind }) => {
    const pages: ListedDocument[][] = []
    let cursor: string | undefined
    do {
      const after = cursor === undefined ? undefined : { cursor }
      const listing = listingBehind((documentId) => {
        const number = [...documentId].reduce((sum, char) => sum + char.charCodeAt(0), pages.length)
        return lags[number % lags.length] ?? 0
      })
      const { documents, nextCursor } = await listDocuments({ workspaceId, order, limit, after }, { listing }, signal)
      pages.push(documents)
      cursor = nextCursor
    } while (cursor !== undefined)
    timeline.checkList({ workspaceId, order, limit, from, pages })
  }
}

function download({ document }: RequestTo<'download'>, { timeline }: Stores): Work {
  const began = timeline.moment
  const { workspaceId, documentId } = document
  const wasThere = () => timeline.since(began, workspaceId, documentId)
  return async (deps) => {
    try {
      await downloadDocument({ workspaceId, documentId, asOctetStream: false, log: SILENT }, deps, signal)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.reason : undefined
      if (reason === 'file_not_downloadable') throw new Error(`${documentId}: its object is lost`)
      if (reason === 'document_not_found' && wasThere().all)
        throw new Error(`${documentId}: answered 404, and was there all the time`)
      throw error
    }
    if (!wasThere().some) throw new Error(`${documentId}: answered 302, and was not there`)
  }
}
