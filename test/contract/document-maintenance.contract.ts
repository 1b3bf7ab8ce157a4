import { describe, expect, it } from 'vitest'
import { newWorkspaceId, strayOf } from '../support/stores/ledger-values.ts'
import { type MakeTableStores, useTableStores } from '../support/stores/table-stores.ts'
import { describeShares } from './shares.ts'

const { signal } = new AbortController()

export function describeDocumentMaintenance(name: string, make: MakeTableStores): void {
  describe(`document maintenance: ${name}`, () => {
    const on = useTableStores(make)

    it('lists all items of one workspace by ascending key, whatever they are, from behind any of them', async () => {
      for (let i = 0; i < 3; i++) await on.recorded()
      const deleted = await on.recorded()
      const pending = await on.begun()
      await on.buried(deleted)
      await on.documents.putStray(strayOf(deleted), signal)
      await on.recorded({ workspaceId: newWorkspaceId() })
      const list = (after?: string) => Array.fromAsync(on.documents.list(on.workspaceId, signal, { after }))
      const all = await list()
      const stateOf = (id: string) => all.find(({ itemId }) => itemId === id)?.state
      const stray = `${deleted.documentId}/${deleted.attemptId}`
      expect([deleted.documentId, pending.documentId, stray].map(stateOf)).toEqual(['gone', 'pending', 'stray'])
      expect(all.map(({ state }) => state).toSorted()).toEqual(['gone', 'pending', 'ready', 'ready', 'ready', 'stray'])
      const keys = all.map(({ itemId }) => itemId)
      expect(keys).toEqual(keys.toSorted())
      for (const [index, key] of keys.entries()) expect(await list(key)).toEqual(all.slice(index + 1))
    })

    it('finds strays as what they are: no kept tombstone, which stands at the same key', async () => {
      const one = await on.recorded({ expiresAt: new Date(5) })
      await on.buried(one, { ifExpiredByMs: 5 })
      await on.documents.keepTombstone((await on.find(one)) as never, signal)
      expect(await on.documents.findStray(one, signal)).toBeUndefined()
    })

    it('knows whether a workspace has any items', async () => {
      await on.begun()
      const { hasWorkspace } = on.documents
      expect([await hasWorkspace(on.workspaceId, signal), await hasWorkspace(newWorkspaceId(), signal)]).toEqual([
        true,
        false,
      ])
    })

    describeShares({
      list: (share) => on.documents.listWorkspaces(share, signal),
      add: (workspaceId) => on.begun(on.document({ workspaceId })),
    })
  })
}
