import { beforeEach } from 'vitest'
import { contentOf, storedObject, type TestObject } from '../aws/memory-s3.ts'
import type { AnyResponse } from './openapi.ts'
import { idOf } from './promotion-answers.ts'
import { CONTAINER, PATH, UNLIMITED, useTestApi } from './test-api.ts'

/** The container of the next turn. */
export const NEXT = 'sess_1-r2'

/** An API, new for each test, with what puts documents back, and looks at containers. */
export function useRestoredFiles(change: Parameters<typeof useTestApi>[0] = { rateLimiter: UNLIMITED }) {
  const api = useTestApi({ maxFileBytes: 5 * 1024 ** 3, ...change })
  beforeEach(async () => {
    await api.call('save_workspace', { parameters: { workspace_id: 'ws_1' }, body: { quota_bytes: 10 ** 9 } })
  })
  const keyOf = (path: string, containerId = NEXT) => `sandboxes/ws_1/${containerId}/${path}`
  /** @returns the id of the document that is made of a file */
  async function keep(path = PATH, object?: TestObject, headers: Record<string, string> = {}): Promise<string> {
    if (object) api.objects.sandbox.set(keyOf(path, CONTAINER), storedObject(object))
    return idOf(await api.promote({ path, headers }))
  }
  const restore = (body: object, containerId = NEXT) => api.call('create_container_file', { containerId, body })

  return {
    api,
    keep,
    /** @returns the id of a document that is a file of the next turn's container, too */
    async keepAndRestore(...args: Parameters<typeof keep>): Promise<string> {
      const id = await keep(...args)
      await restore({ file_id: id })
      return id
    },
    restore,
    restoreMany: (body: object, more: object = {}) =>
      api.call('restore_container_files', { containerId: NEXT, body, ...more }),
    show: (path = PATH) => api.call('retrieve_container_file', { containerId: NEXT, path }),
    promote: (path = PATH, more: object = {}) => api.promote({ path, containerId: NEXT, ...more }),
    /** What an agent writes. */
    write: (path: string, text: string) => api.putFile(path, Buffer.from(text), {}, 'ws_1', NEXT),
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
