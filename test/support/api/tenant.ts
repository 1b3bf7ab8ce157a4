import { expect } from 'vitest'
import { addLink } from './links.ts'
import type { HandlerDependencies } from './operations.ts'
import { idOf } from './promotion-answers.ts'
import { CONTAINER, createTestApi, type TestApi } from './test-api.ts'

/** A workspace without documents, and the name of its key. */
const TENANT = { workspace_id: 'ws_empty', name: 'ci' }
/** One that is to be erased. */
const LEAVING = { workspace_id: 'ws_leaving', name: 'ci' }

/** Both. */
export async function addTenant(api: Pick<TestApi, 'call'>): Promise<void> {
  const { status } = await api.call('save_workspace', { parameters: TENANT })
  const key = { parameters: TENANT, body: { permissions: ['files:read'] } }
  expect([status, (await api.call('save_key', key)).status]).toEqual([200, 200])
  for (const name of ['save_workspace', 'save_erasure'] as const)
    expect((await api.call(name, { parameters: LEAVING, body: {} })).status).toBe(200)
}

/** An API, and parameters with which a request of this operation succeeds, unless something of its own is in the way. */
export async function prepareFor({ needsErasure }: { needsErasure?: true }, change: Partial<HandlerDependencies> = {}) {
  const api = createTestApi(change)
  const document_id = idOf(await api.promote())
  const { linkId: link_id } = await addLink(api)
  await addTenant(api)
  const parameters = { document_id, link_id, container_id: CONTAINER, ...(needsErasure ? LEAVING : TENANT) }
  return { ...api, parameters }
}
