import { beforeEach } from 'vitest'
import { formatFileId } from '../../../lib/ids.ts'
import { contentOf, storedObject, type TestObject } from '../aws/memory-s3.ts'
import { UNLIMITED } from './documents-api.ts'
import { idOf } from './idempotent-promotions.ts'
import type { AnyResponse } from './openapi.ts'
import { CONTAINER, createTestApi, PATH, type TestApi } from './test-api.ts'

/** The container of the next turn. */
export const NEXT = 'sess_1-r2'
export const QUOTA_BYTES = 10 ** 9

/** An API, new for each test, with what puts documents back, and looks at containers. */
export function useRestoredFiles(change: Parameters<typeof createTestApi>[0] = { rateLimiter: UNLIMITED }) {
  let api: TestApi
  beforeEach(async () => {
    api = createTestApi({ maxFileBytes: 5 * 1024 ** 3, ...change })
    await api.call('save_workspace', { parameters: { workspace_id: 'ws_1' }, body: { quota_bytes: QUOTA_BYTES } })
  })
  const keyOf = (path: string, containerId = NEXT) => `sandboxes/ws_1/${containerId}/${path}`

  return {
    get api() {
      return api
    },
    /** @returns the id of the document that is made of a file */
    async keep(path = PATH, object?: TestObject, headers: Record<string, string> = {}): Promise<string> {
      if (object) api.objects.sandbox.set(keyOf(path, CONTAINER), storedObject(object))
      return idOf(await api.promote({ path, headers }))
    },
    restore: (body: object, containerId = NEXT) =>
      api.call('create_container_file', { parameters: { container_id: containerId }, body }),
    restoreMany: (body: object, more: object = {}, containerId = NEXT) =>
      api.call('restore_container_files', { parameters: { container_id: containerId }, body, ...more }),
    show: (path = PATH, containerId = NEXT) =>
      api.call('retrieve_container_file', { parameters: { container_id: containerId, file_id: formatFileId(path) } }),
    promote: (path = PATH, more: object = {}) => api.promote({ path, containerId: NEXT, ...more }),
    /** What an agent writes. */
    write: (path: string, text: string, containerId = NEXT) =>
      api.objects.sandbox.set(keyOf(path, containerId), storedObject({ bytes: Buffer.from(text) })),
    objectAt: (path = PATH, containerId = NEXT) => api.objects.sandbox.get(keyOf(path, containerId)),
    textAt(path = PATH, containerId = NEXT): string | undefined {
      const object = api.objects.sandbox.get(keyOf(path, containerId))
      return object && contentOf(object).toString()
    },
    usedBytes: () => api.stored.ledgerOf('ws_1')?.usedBytes,
  }
}

interface Restored {
  file_id: string
  path: string | null
  outcome: string
  container_file?: { path: string; etag: string; bytes: number; source: string }
  error?: { code: number; metadata: { reason: string; detail: string; retry_after_seconds?: number } }
}
export const restoredList = ({ body }: AnyResponse) =>
  body as { data: Restored[]; has_more: boolean; next: string | null; retry_after_seconds?: number }
/** Each path with its outcome or, if it was refused, the reason. */
export const restoredOutcomes = (response: AnyResponse) =>
  restoredList(response).data.map(({ path, outcome, error }) => [path, error?.metadata.reason ?? outcome] as const)
