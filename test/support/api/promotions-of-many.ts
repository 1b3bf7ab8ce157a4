import { NOW_MS } from '../ports.ts'
import { createLimiter } from '../stores/keys-and-limits.ts'
import { skipWaits } from '../virtual-waits.ts'
import type { AnyResponse } from './openapi.ts'
import { CSV, createTestApi, UNLIMITED } from './test-api.ts'

interface Item {
  path: string
  file_id: string
  outcome: string
  document?: { id: string; expires_at?: string }
  error?: { code: number; metadata: { reason: string; detail: string } }
}
interface Page {
  data: Item[]
  has_more: boolean
  next: string | null
  retry_after_seconds?: number
}
export const listOf = ({ body }: AnyResponse) => body as Page
/** Each path with its outcome or, if it was refused, the reason. */
export const outcomesOf = (response: AnyResponse) =>
  listOf(response).data.map(({ path, outcome, error }) => [path, error?.metadata.reason ?? outcome] as const)
export const all = (outcome: string, paths: readonly string[]) => paths.map((path) => [path, outcome])

export const manyPaths = (count: number, from = 0) =>
  Array.from({ length: count }, (_, number) => `many/${String(from + number).padStart(3, '0')}.csv`)

/** In the test file that calls this, nothing waits. @returns makes an API with container files, beside those of all tests */
export function usePromotionsOfMany() {
  skipWaits()
  return (paths: readonly string[] = [], change: Parameters<typeof createTestApi>[0] = {}) => {
    const api = createTestApi({ rateLimiter: createLimiter(UNLIMITED.policy, () => NOW_MS), ...change })
    for (const path of paths) api.putFile(path, CSV, 'text/csv')
    return api
  }
}
