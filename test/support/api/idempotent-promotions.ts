import { expect } from 'vitest'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CSV, type createTestApi } from './test-api.ts'

export const WORKSPACE = 'ws_1' as WorkspaceId
export const KEY = 'order-4711'
export const withKey = (key = KEY) => ({ headers: { 'Idempotency-Key': key } })
export const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id

export const promotionsOf = ({ reservations }: ReturnType<typeof createTestApi>) =>
  [...reservations.items.values()].filter(({ purpose }) => purpose === 'promotion')

/** Expects one document, counted once and settled. */
export function expectOneDocument(api: ReturnType<typeof createTestApi>) {
  const { documents, objects, ledger } = api
  expect(documents.documents.size).toBe(1)
  expect(objects.documents.size).toBe(1)
  const workspace = ledger.workspaces.get(WORKSPACE)
  expect(workspace?.remainingBytes).toBe((workspace?.quotaBytes ?? 0) - CSV.length)
  expect([workspace?.takings.size, workspace?.releases.size]).toEqual([0, 0])
  expect(promotionsOf(api)).toEqual([])
}
