import { expect } from 'vitest'
import type { createTestApi } from './test-api.ts'

/** A workspace without documents, and the name of its key. */
const TENANT = { workspace_id: 'ws_empty', name: 'ci' }
/** One that is to be erased. */
const LEAVING = { workspace_id: 'ws_leaving', name: 'ci' }
/** Where a request of this operation succeeds. */
export const tenantOf = ({ needsErasure }: { needsErasure?: true }) => (needsErasure ? LEAVING : TENANT)

/** Both. */
export async function addTenant(api: Pick<ReturnType<typeof createTestApi>, 'call'>): Promise<void> {
  const { status } = await api.call('save_workspace', { parameters: TENANT })
  const key = { parameters: TENANT, body: { permissions: ['files:read'] } }
  expect([status, (await api.call('save_key', key)).status]).toEqual([200, 200])
  for (const name of ['save_workspace', 'save_erasure'] as const)
    expect((await api.call(name, { parameters: LEAVING, body: {} })).status).toBe(200)
}
