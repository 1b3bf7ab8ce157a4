import { deleteDocumentForCaller } from '../../documents/delete-document-for-caller.ts'
import type { DocumentListing, ListOrder } from '../../documents/document-listing.ts'
import { type DownloadDocumentDependencies, downloadDocument } from '../../documents/download-document.ts'
import { findDocument } from '../../documents/find-document.ts'
import { type DocumentListRequest, listDocuments, listDocumentsById } from '../../documents/list-documents.ts'
import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import { parseContainerId, type WorkspaceId } from '../../ids.ts'
import type { LedgerDependencies } from '../../ledger/dependencies.ts'
import type { Ledger } from '../../ledger/ports/ledger.ts'
import { acceptsOnlyOctetStream, answer, contentHeaders, redirectTo, usageHeaders } from '../answers.ts'
import type { ApiRequest, Operations } from '../api-handler.ts'
import { type LimitBounds, MAX_PAGE, queryChoice, queryValue, queryValues, readLimit, refuseValue } from '../query.ts'
import type { ApiEvent } from '../request-state.ts'
import { type FileShape, fileDeletedResponse, fileListResponse, fileResponse, PURPOSE, PURPOSES } from '../shapes.ts'

export interface ReadDocumentsDependencies extends DownloadDocumentDependencies {
  listing: DocumentListing
  ledger: Pick<Ledger, 'usage'>
}

/** As each dialect's libraries expect. */
const ORDER_AND_LIMIT: Readonly<Record<FileShape, { order: ListOrder; limit?: LimitBounds }>> = {
  native: { order: 'asc' },
  compat_a: { order: 'desc', limit: { default: 20 } },
  compat_b: { order: 'desc', limit: { default: MAX_PAGE, max: 10_000 } },
}
const MAX_IDS = 100

export function documentReads(deps: ReadDocumentsDependencies) {
  return {
    async list_documents({ event, caller: { workspaceId }, state: { deadline, log }, answerShape, rateLimitPassed }) {
      const list = readList(event, workspaceId, answerShape.shape)
      const { signal } = deadline
      const readingUsage = rateLimitPassed.then(() => tryToReadUsage({ workspaceId, log }, deps, signal))
      const [page, usage] = await Promise.all([list(deps, signal), readingUsage])
      return answer(fileListResponse(page, answerShape), usageHeaders(usage))
    },

    async retrieve_document(request) {
      const { deadline, telemetry } = request.state
      const document = await findDocument(readDocument(request), deps, deadline.signal)
      telemetry.annotate({ document_id: document.documentId })
      return answer(fileResponse(document, request.answerShape), contentHeaders(document))
    },

    async download_document(request) {
      const { deadline, log, telemetry } = request.state
      const wanted = { ...readDocument(request), asOctetStream: acceptsOnlyOctetStream(request.event), log }
      const { document, download } = await downloadDocument(wanted, deps, deadline.signal)
      telemetry.annotate({ document_id: document.documentId, size_bytes: document.sizeBytes })
      return redirectTo(download, contentHeaders(document))
    },
  } satisfies Operations
}

/** Served by a function of its own, which alone may delete. */
export function documentDeletion(deps: LedgerDependencies) {
  return {
    async delete_document(request) {
      const { state, answerShape, rateLimitPassed } = request
      await rateLimitPassed
      const wanted = { ...readDocument(request), log: state.log }
      const { documentId, sizeBytes, usage } = await deleteDocumentForCaller(wanted, deps, state.deadline.signal)
      state.telemetry.annotate({ document_id: documentId, is_replayed: sizeBytes === undefined })
      if (sizeBytes !== undefined) state.counts = { Deletions: 1, DeletedBytes: sizeBytes }
      return answer(fileDeletedResponse(documentId, answerShape), usageHeaders(usage))
    },
  } satisfies Operations
}

function readDocument({ event, caller: { workspaceId } }: ApiRequest) {
  return { workspaceId, documentId: event.pathParameters?.document_id }
}

type List = (deps: { listing: DocumentListing }, signal: AbortSignal) => ReturnType<typeof listDocuments>

/** Validates the whole request before anything is read. */
function readList(event: ApiEvent, workspaceId: WorkspaceId, shape: FileShape): List {
  const purpose = queryChoice(event, 'purpose', PURPOSES)
  const order = queryChoice(event, 'order', ['asc', 'desc']) ?? ORDER_AND_LIMIT[shape].order
  const after = readStart(event)
  const limit = readLimit(event, ORDER_AND_LIMIT[shape].limit)
  const container = queryValue(event, 'container_id') ?? queryValue(event, 'scope_id')
  const containerId = container === undefined ? undefined : parseContainerId(container)
  const ids = [...queryValues(event, 'ids[]'), ...queryValues(event, 'ids')]
  if (ids.length > MAX_IDS) refuseValue('ids[]', `At most ${MAX_IDS} ids are allowed.`)
  const isOfList = after !== undefined || containerId !== undefined || queryValue(event, 'limit') !== undefined
  if (ids.length > 0 && isOfList) refuseValue('ids[]', 'It cannot be combined with a cursor, a container or a limit.')
  // All documents were promoted, so all have this one purpose.
  if (purpose !== undefined && purpose !== PURPOSE) return async () => ({ workspaceId, documents: [], hasMore: false })
  if (ids.length > 0) return (deps, signal) => listDocumentsById({ workspaceId, ids }, deps, signal)
  return (deps, signal) => listDocuments({ workspaceId, order, containerId, limit, after }, deps, signal)
}

/** `@openrouter/sdk` sends its caller's `after` along with the cursor it continues from: the cursor wins. */
function readStart(event: ApiEvent): DocumentListRequest['after'] {
  const cursor = queryValue(event, 'cursor') ?? queryValue(event, 'page')
  if (cursor !== undefined) return { cursor }
  const documentId = queryValue(event, 'after_id') ?? queryValue(event, 'after')
  return documentId === undefined ? undefined : { documentId }
}
