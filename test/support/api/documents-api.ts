import { beforeEach } from 'vitest'
import type { RateLimiter } from '../../../lib/auth/rate-limit.ts'
import { type ContainerId, documentIdOfAttempt, type FilePath, newAttemptId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { storedObject } from '../aws/memory-s3.ts'
import { NOW_MS } from '../ports.ts'
import { newAttempt, newDocument, pendingOf } from '../stores/ledger-values.ts'
import type { AnyResponse } from './openapi.ts'
import { expectUntouched } from './promotion-answers.ts'
import { CONTAINER, createTestApi, PATH } from './test-api.ts'

const TOLD = { remaining: 4, resetMs: 1000, retryAfterMs: 0 }
export const UNLIMITED: RateLimiter = {
  policy: { requestsPerMinute: 60_000, burst: 10_000 },
  take: async () => ({ policy: UNLIMITED.policy, isAllowed: true, isDisabled: false, ...TOLD }),
  setLimits: async () => undefined,
}
export const OPENAI = { 'user-agent': 'OpenAI/JS 6.49.0' }
export const ANTHROPIC = { 'anthropic-version': '2026-10-21' }
export const OPENROUTER = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.0 1.0 @openrouter/sdk' }

/** When a document expires that was promoted for so long when a test began: on a whole second, as that is not. */
export const endAfter = (seconds: number) => new Date((Math.floor(NOW_MS / 1000) + seconds) * 1000)

const { signal } = new AbortController()

export const newDocumentId = () => documentIdOfAttempt(newAttemptId())

/** The API, new for each test, with the operations on documents. */
export function useDocumentsApi() {
  let api: ReturnType<typeof createTestApi>
  beforeEach(() => {
    api = createTestApi({ rateLimiter: UNLIMITED })
  })

  /** @param minute when it was created, in minutes before now */
  async function record(minute: number, change: Partial<WorkspaceDocument> = {}): Promise<WorkspaceDocument> {
    const attempt = newAttempt({ sizeBytes: 8, ...change })
    const document = newDocument(attempt, {
      filename: PATH as FilePath,
      mimeType: 'text/csv',
      contentEncoding: undefined,
      sha256: undefined,
      createdAt: new Date(NOW_MS - minute * 60_000),
      containerId: CONTAINER as ContainerId,
      ...change,
    })
    await api.documents.begin(pendingOf(attempt), undefined, signal)
    await api.documents.record(document, signal)
    api.objects.documents.set(document.objectKey, storedObject({ bytes: Buffer.alloc(8), contentType: 'text/csv' }))
    return document
  }

  /** All that there are, as the resolver does. */
  async function deleteExpired(): Promise<void> {
    for (const each of api.stored.documents())
      await deleteDocument(each, { ifExpiredByMs: api.clock.nowMs }, api.dependencies, signal)
    expectUntouched(api)
  }

  const withId =
    (name: 'retrieve_document' | 'delete_document' | 'download_document') =>
    (id: string, headers = {}) =>
      api.call(name, { parameters: { document_id: id }, headers })
  return {
    get api() {
      return api
    },
    record,
    deleteExpired,
    setClock: (ms: number) => {
      api.clock.nowMs = ms
    },
    show: withId('retrieve_document'),
    remove: withId('delete_document'),
    download: withId('download_document'),
    list: (query: Record<string, string | string[]> = {}, headers = {}) =>
      api.call('list_documents', { query, headers }),
  }
}

export const bodyOf = ({ body }: AnyResponse) =>
  body as { data: { id: string }[]; has_more: boolean; cursor: string; next_page: string; last_id: string }
export const idsOf = (response: AnyResponse) => bodyOf(response).data.map(({ id }) => id)
