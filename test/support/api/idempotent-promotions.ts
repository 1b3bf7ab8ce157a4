import { expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CSV, type createTestApi } from './test-api.ts'

export const WORKSPACE = 'ws_1' as WorkspaceId
export const KEY = 'order-4711'
export const withKey = (key = KEY) => ({ headers: { 'Idempotency-Key': key } })
export const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id

/** Expects one document, counted once, and no hold. */
export function expectOneDocument(api: ReturnType<typeof createTestApi>) {
  const { stored, objects } = api
  expect(stored.items().map(({ state }) => state)).toEqual(['ready'])
  expect(objects.documents.size).toBe(1)
  expect(stored.ledgerOf(WORKSPACE)).toMatchObject({ usedBytes: CSV.length, holds: [], refunds: [] })
}
