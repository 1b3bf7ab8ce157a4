import type { DocumentListing, ListOrder } from '../../documents/document-listing.ts'
import { type DocumentListRequest, listDocuments, listDocumentsById } from '../../documents/list-documents.ts'
import { tryToReadUsage } from '../../documents/try-to-read-usage.ts'
import { parseContainerId, type WorkspaceId } from '../../ids.ts'
import type { Ledger } from '../../ledger/ports/ledger.ts'
import type { Operation } from '../api-handler.ts'
import { fileListResponse, PURPOSE, PURPOSES, storageUsageHeaders } from '../file-response.ts'
import type { FileShape } from '../file-shape.ts'
import { type LimitBounds, MAX_PAGE, queryChoice, queryValue, queryValues, readLimit, refuseValue } from '../query.ts'
import type { ApiEvent } from '../request-state.ts'

export interface ListDocumentsDependencies {
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

/** GET /v1/files */
export function listDocumentsOperation(deps: ListDocumentsDependencies): Operation {
  return {
    async handle({ event, caller: { workspaceId }, state: { deadline, log }, answerShape, rateLimitPassed }) {
      const list = readList(event, workspaceId, answerShape.shape)
      const { signal } = deadline
      const readingUsage = rateLimitPassed.then(() => tryToReadUsage({ workspaceId, log }, deps, signal))
      const [page, usage] = await Promise.all([list(deps, signal), readingUsage])
      return {
        statusCode: 200,
        headers: { ...(usage && storageUsageHeaders(usage.quotaBytes, usage.usedBytes)) },
        body: JSON.stringify(fileListResponse(page, answerShape)),
      }
    },
  }
}

type List = (deps: ListDocumentsDependencies, signal: AbortSignal) => ReturnType<typeof listDocuments>

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
  if (ids.length > 0 && isOfList) {
    refuseValue('ids[]', 'It cannot be combined with a cursor, a container or a limit.')
  }
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
