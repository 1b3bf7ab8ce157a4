import { deleteDocumentForCaller } from '../../../lib/documents/delete-document.ts'
import type { ListedDocument } from '../../../lib/documents/document-listing.ts'
import { downloadDocument } from '../../../lib/documents/download-document.ts'
import { listDocuments } from '../../../lib/documents/list-documents.ts'
import { ServiceError } from '../../../lib/errors.ts'
import { formatFileId } from '../../../lib/ids.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { promoteContainerFile } from '../../../lib/promotion/promote-container-file.ts'
import { createTelemetry } from '../../../lib/telemetry.ts'
import { type Action, workspaceOf } from './action.ts'
import { SILENT, type Stores } from './stores.ts'
import type { Timeline } from './timeline.ts'

export type Work = (deps: ReturnType<Stores['dependencies']>) => Promise<unknown>

const { signal } = new AbortController()
const DEADLINE = { signal, undoSignal: () => signal }

/** What callers ask for, each with what it must see, given what was there while it went on. */
export function promotion({ workspace, file, key }: Extract<Action, { do: 'promote' }>): Work {
  return (deps) =>
    promoteContainerFile(
      {
        caller: {
          keyId: 'key',
          workspaceId: workspaceOf(workspace),
          kind: 'management',
          permissions: [],
          userId: undefined,
        },
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

export function deletion({ workspaceId, documentId }: WorkspaceDocument, timeline: Timeline): Work {
  const from = timeline.moment
  return async (deps) => {
    await deleteDocumentForCaller({ workspaceId, documentId, log: SILENT }, deps, signal)
    if (timeline.presence(documentId, workspaceId, from, timeline.moment) === 'all')
      throw new Error(`${documentId}: answered 200, and was there all the time`)
  }
}

export function listing({ workspace, order, limit, lags }: Extract<Action, { do: 'list' }>, timeline: Timeline): Work {
  const workspaceId = workspaceOf(workspace)
  const from = timeline.moment
  return async ({ listingBehind, ...deps }) => {
    const pages: ListedDocument[][] = []
    let cursor: string | undefined
    do {
      const after = cursor === undefined ? undefined : { cursor }
      const listing = listingBehind((documentId) => {
        const number = [...documentId].reduce((sum, char) => sum + char.charCodeAt(0), pages.length)
        return lags[number % lags.length] ?? 0
      })
      const { documents, nextCursor } = await listDocuments(
        { workspaceId, order, limit, after },
        { ...deps, listing },
        signal,
      )
      pages.push(documents)
      cursor = nextCursor
    } while (cursor !== undefined)
    timeline.checkList({ workspaceId, order, limit, from, to: timeline.moment, pages })
  }
}

export function download({ workspaceId, documentId }: WorkspaceDocument, timeline: Timeline): Work {
  const from = timeline.moment
  const presence = () => timeline.presence(documentId, workspaceId, from, timeline.moment)
  return async (deps) => {
    try {
      await downloadDocument({ workspaceId, documentId, asOctetStream: false, log: SILENT }, deps, signal)
    } catch (error) {
      const reason = error instanceof ServiceError ? error.reason : undefined
      if (reason === 'file_not_downloadable') throw new Error(`${documentId}: its object is lost`)
      if (reason === 'document_not_found' && presence() === 'all')
        throw new Error(`${documentId}: answered 404, and was there all the time`)
      throw error
    }
    if (presence() === 'none') throw new Error(`${documentId}: answered 302, and was not there`)
  }
}
