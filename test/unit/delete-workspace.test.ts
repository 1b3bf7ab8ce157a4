import { expect, it } from 'vitest'
import { deleteWorkspace } from '../../infra/admin/delete-workspace.ts'
import type { Session } from '../../infra/admin/session.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { newDocument, newReservation } from '../support/stores/ledger-values.ts'

const workspaceId = 'ws_1' as WorkspaceId

it('keeps a workspace in which a document of no bytes was recorded meanwhile: nothing counts it', async () => {
  const listings = [[], [newDocument(newReservation({ workspaceId, sizeBytes: 0 }))]]
  const removed: string[] = []
  const stores = {
    apiKeys: { list: async function* () {} },
    documents: {
      async *list() {
        yield* listings.shift() ?? []
      },
    },
    reservations: { list: async function* () {} },
    ledgers: { read: async () => ({ version: 7 }) },
    workspaceRemoval: { remove: async (id: string) => removed.push(id) > 0 },
  }
  const output = { done() {}, progress() {} }
  const session = { output, place: 'a test', signal: AbortSignal.timeout(10_000), stores: async () => stores }
  const deleting = deleteWorkspace(workspaceId, { empty: true, yes: true }, session as unknown as Session)
  await expect(deleting).rejects.toMatchObject({ reason: 'workspace_busy' })
  expect(removed).toEqual([])
})
