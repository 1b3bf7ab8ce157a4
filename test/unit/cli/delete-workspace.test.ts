import { expect, it } from 'vitest'
import { deleteWorkspace } from '../../../infra/cli/commands/delete-workspace.ts'
import type { Session } from '../../../infra/cli/session.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { newAttempt, newDocument } from '../../support/stores/ledger-values.ts'

const workspaceId = 'ws_1' as WorkspaceId

it('keeps a workspace in which a document of no bytes was recorded meanwhile: nothing counts it', async () => {
  const listings = [[], [newDocument(newAttempt({ workspaceId, sizeBytes: 0 }))]]
  const removed: string[] = []
  const stores = {
    apiKeys: { list: async function* () {} },
    documents: {
      async *list() {
        yield* listings.shift() ?? []
      },
    },
    reservations: { list: async function* () {} },
    workspaces: { read: async () => ({ version: 7 }) },
    workspaceRemoval: { remove: async (id: string) => removed.push(id) > 0 },
  }
  const output = { done() {}, progress() {} }
  const session = { output, place: 'a test', signal: AbortSignal.timeout(10_000), stores: async () => stores }
  const deleting = deleteWorkspace(session as unknown as Session, workspaceId, { empty: true, yes: true })
  await expect(deleting).rejects.toMatchObject({ reason: 'workspace_busy' })
  expect(removed).toEqual([])
})
