import { audit } from '../../../lib/audit/audit.ts'
import { deleteDocumentForCaller } from '../../../lib/documents/delete-document.ts'
import type { ListedDocument, ListOrder } from '../../../lib/documents/document-listing.ts'
import { downloadDocument } from '../../../lib/documents/download-document.ts'
import { formatCursor } from '../../../lib/documents/list-cursor.ts'
import { listDocuments } from '../../../lib/documents/list-documents.ts'
import { type FilePath, formatFileId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import { expireDocuments } from '../../../lib/ledger/expire-documents.ts'
import { expiresAtOf } from '../../../lib/ledger/expiry.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { resolveDueWorkspaces } from '../../../lib/ledger/resolve-due-workspaces.ts'
import { promoteContainerFile } from '../../../lib/promotion/promote-container-file.ts'
import { promoteContainerFiles } from '../../../lib/promotion/promote-container-files.ts'
import { createTelemetry } from '../../../lib/telemetry.ts'
import { LEASE_MS } from '../../support/ports.ts'
import type { Drifts } from './drifts.ts'
import { SILENT as log, SHARDS, type Stores, workspaceOf } from './stores.ts'

type Maybe = number | undefined
type DocumentPath = Pick<WorkspaceDocument, 'workspaceId' | 'documentId'>

/** What a process does. */
export type Request =
  /** @param amongMany by a request for many files, which makes one document of each, as if it were a key */
  | { do: 'promote'; workspace: number; file: number; key?: Maybe; amongMany?: true; expiresInSeconds?: Maybe }
  /** By a caller, or by the administration. */
  | { do: 'delete'; document: DocumentPath; byApi?: boolean }
  /** @param lags how far behind the index's entries are, in moments */
  | { do: 'list'; workspace: number; order: ListOrder; limit: number; lags: number[] }
  | { do: 'download'; document: DocumentPath }
  /** @param aheadMs by how much the process's clock is wrong: leases that seem to be over may not be */
  | { do: 'resolve'; aheadMs?: number }
  /** @param lag how far behind the index is, in moments */
  | { do: 'expire'; aheadMs?: number; lag?: number }
  /** By the administration. @param seconds from then on; undefined: it is kept for ever */
  | { do: 'change_expiry'; document: DocumentPath; seconds?: Maybe; aheadMs?: number }
  | { do: 'audit'; aheadMs?: number; findsDriftOnly?: true }

export type RequestTo<Kind extends Request['do']> = Extract<Request, { do: Kind }>
type Dependencies = ReturnType<Stores['dependencies']>

const { signal } = new AbortController()

export async function handle(request: Request, deps: Dependencies, drifts: Drifts): Promise<unknown> {
  switch (request.do) {
    case 'promote':
      return promote(request, deps)
    case 'delete':
      if (!request.byApi) return deleteDocument(request.document, deps, signal)
      return deleteDocumentForCaller({ ...request.document, log }, deps, signal)
    case 'list':
      return list(request, deps)
    case 'download':
      return downloadDocument({ ...request.document, asOctetStream: false, log }, deps, signal)
    case 'resolve':
      return resolveDueWorkspaces({ maxResolutions: 10 }, deps, signal)
    case 'expire': {
      const run = { shards: SHARDS, timeoutEachMs: 60_000, endsAtMs: deps.now() + LEASE_MS }
      return expireDocuments(run, { ...deps, expiries: deps.expiriesBehind(request.lag) }, signal)
    }
    case 'change_expiry': {
      const { document, seconds } = request
      const expiresAt = seconds === undefined ? undefined : expiresAtOf(new Date(deps.now()), seconds)
      const found = await deps.documents.find(document.workspaceId, document.documentId, signal)
      return found && deps.administration.setExpiry(found, expiresAt, signal)
    }
    case 'audit':
      return drifts.watch((options) => audit(options, deps, signal), request.findsDriftOnly)
  }
}

function promote(asked: RequestTo<'promote'>, deps: Dependencies): Promise<unknown> {
  const { workspace, file, key, amongMany, expiresInSeconds } = asked
  const workspaceId = workspaceOf(workspace)
  const request = {
    caller: { keyId: 'key', workspaceId, kind: 'management', permissions: [], userId: undefined } as const,
    containerId: 'sess_1',
    fileId: formatFileId(`file-${file}`),
    idempotencyKey: key === undefined ? undefined : `key-${key}`,
    expiresInSeconds,
    rateLimitPassed: Promise.resolve(),
    beginWait: async () => async () => {},
    deadline: { signal, leftMs: () => 60_000, undoSignal: () => signal },
    log,
    telemetry: createTelemetry(),
  }
  return amongMany ? promoteAmongMany(`file-${file}` as FilePath, request, deps) : promoteContainerFile(request, deps)
}

async function promoteAmongMany(
  path: FilePath,
  request: Parameters<typeof promoteContainerFile>[0],
  deps: Dependencies,
) {
  // Without time, it does not wait for a twin.
  const deadline = { ...request.deadline, leftMs: () => 0 }
  const many = { ...request, files: { paths: [path] }, after: undefined, countMore: async () => 0, deadline }
  const [outcome] = (await promoteContainerFiles(many, { ...deps, containerFiles: undefined as never })).listed
  if (outcome?.error) throw outcome.error
  return outcome
}

/** @returns all pages */
async function list({ workspace, order, limit, lags }: RequestTo<'list'>, deps: Dependencies) {
  const pages: ListedDocument[][] = []
  let cursor: string | undefined
  do {
    const listing = deps.listingBehind((documentId) => {
      const number = [...documentId].reduce((sum, char) => sum + char.charCodeAt(0), pages.length)
      return lags[number % lags.length] ?? 0
    })
    const request = { workspaceId: workspaceOf(workspace), order, limit, after: cursor ? { cursor } : undefined }
    const { workspaceId, documents, hasMore } = await listDocuments(request, { listing }, signal)
    pages.push(documents)
    const last = documents.at(-1)
    cursor = hasMore && last ? formatCursor(workspaceId, last) : undefined
  } while (cursor !== undefined)
  return pages
}
