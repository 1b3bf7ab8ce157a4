import { expect } from 'vitest'
import type { createTestApi } from './test-api.ts'

/** A workspace without documents, and the name of its key. */
export const TENANT = { workspace_id: 'ws_empty', name: 'ci' }

export async function addTenant(api: Pick<ReturnType<typeof createTestApi>, 'call'>): Promise<void> {
  const { status } = await api.call('save_workspace', { parameters: TENANT })
  const key = { parameters: TENANT, body: { permissions: ['files:read'] } }
  expect([status, (await api.call('save_key', key)).status]).toEqual([200, 200])
}
