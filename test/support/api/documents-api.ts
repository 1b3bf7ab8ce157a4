import { type ContainerId, documentIdOfAttempt, type FilePath, newAttemptId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { NOW_MS } from '../ports.ts'
import { newAttempt } from '../stores/ledger-values.ts'
import type { AnyResponse } from './openapi.ts'
import { expectUntouched } from './promotion-answers.ts'
import { CONTAINER, PATH, UNLIMITED, useTestApi } from './test-api.ts'

/** When a document expires that was promoted for so long when a test began: on a whole second, as that is not. */
export const endAfter = (seconds: number) => new Date((Math.floor(NOW_MS / 1000) + seconds) * 1000)

const { signal } = new AbortController()

export const newDocumentId = () => documentIdOfAttempt(newAttemptId())

/** The API, new for each test, with the operations on documents. */
export function useDocumentsApi() {
  const api = useTestApi({ rateLimiter: UNLIMITED })

  /** @param minute when it was created, in minutes before now */
  function record(minute: number, change: Partial<WorkspaceDocument> = {}): Promise<WorkspaceDocument> {
    return api.run(['begin', 'copy', 'record'], newAttempt({ sizeBytes: 8, ...change }), {
      filename: PATH as FilePath,
      mimeType: 'text/csv',
      contentEncoding: undefined,
      sha256: undefined,
      createdAt: new Date(NOW_MS - minute * 60_000),
      containerId: CONTAINER as ContainerId,
      ...change,
    })
  }

  /** All that there are, as the resolver does. */
  async function deleteExpired(): Promise<void> {
    for (const each of api.stored.documents())
      await deleteDocument(each, { ifExpiredByMs: api.clock.nowMs }, api.dependencies, signal)
    expectUntouched(api)
  }

  const withId =
    (name: 'retrieve_document' | 'delete_document' | 'download_document') =>
    (id: string, headers = {}, token = api.managementToken) =>
      api.call(name, { parameters: { document_id: id }, headers, token })
  return {
    api,
    record,
    deleteExpired,
    setClock: (ms: number) => {
      api.clock.nowMs = ms
    },
    show: withId('retrieve_document'),
    remove: withId('delete_document'),
    download: withId('download_document'),
    list: (query: Record<string, string | string[]> = {}, headers = {}, token = api.managementToken) =>
      api.call('list_documents', { query, headers, token }),
  }
}

export const bodyOf = ({ body }: AnyResponse) =>
  body as { data: { id: string }[]; has_more: boolean; cursor: string; next_page: string; last_id: string }
export const pathsOf = ({ body }: AnyResponse) => (body as { data: { path: string }[] }).data.map(({ path }) => path)
export const idsOf = (response: AnyResponse) => bodyOf(response).data.map(({ id }) => id)
