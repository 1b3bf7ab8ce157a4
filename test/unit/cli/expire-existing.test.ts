import { afterEach, expect, it, vi } from 'vitest'
import { expireExisting } from '../../../infra/cli/commands/documents-commands.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { DOCUMENTS_TABLE } from '../../support/dynamodb/memory-tables.ts'
import { createPorts, type Ports, WORKSPACE } from '../../support/ports.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000
/** A whole second: expiries are on one. */
const NOW_MS = 1_800_000_000_000
const RULE = { expireAfterSeconds: 2 * 3600, expireAtMostSeconds: 3 * 3600 }

afterEach(() => vi.useRealTimers())

/** Documents that expire so many hours from now; undefined: never. @param meanwhile what happens once all are read */
async function expire(
  hours: (number | undefined)[],
  meanwhile: (each: WorkspaceDocument[], ports: Ports) => unknown = () => {},
) {
  vi.setSystemTime(NOW_MS)
  const ports = createPorts({ clock: { nowMs: NOW_MS } })
  const all: WorkspaceDocument[] = []
  for (const hour of hours) {
    const expiresAt = hour === undefined ? undefined : new Date(NOW_MS + hour * HOUR_MS)
    all.push(await ports.addDocument(undefined, { expiresAt }))
  }
  await ports.stored.put(DOCUMENTS_TABLE, { workspace_id: WORKSPACE, document_id: 'unreadable' })
  const documents: Ports['documents'] = {
    ...ports.documents,
    async *list(...args) {
      const items = await Array.fromAsync(ports.documents.list(...args))
      await meanwhile(all, ports)
      yield* items
    },
  }
  const run = async (rule: object) => {
    const output = { progress() {}, done: vi.fn() }
    const session = { output, signal, stores: async () => ({ documents }) } as never
    const code = await expireExisting(session, WORKSPACE, rule)
    return { code, ...output.done.mock.lastCall?.[1] }
  }
  const hoursLeft = async () => {
    const found = await Promise.all(all.map((each) => ports.documents.find(each, signal)))
    const left = (expiresAt: Date | undefined) => expiresAt && (expiresAt.getTime() - NOW_MS) / HOUR_MS
    return found.map((each) => (each?.state === 'ready' ? left(each.expiresAt) : each?.state))
  }
  return { run, hoursLeft }
}

it('gives those without an expiry the default, counted from now, and cuts what is kept too long; others stay', async () => {
  const { run, hoursLeft } = await expire([undefined, 1, 3, 3.5, 100, -1])
  const seen = { documents: 6, unreadable: 1, workspaceId: 'ws_1' }
  expect(await run(RULE)).toEqual({ ...seen, changed: 3, code: 1 })
  expect(await hoursLeft()).toEqual([2, 1, 3, 3, 3, -1])
})

it.each([
  [{ expireAfterSeconds: 7200 }, [2, 1, 100]],
  [{ expireAtMostSeconds: 7200 }, [2, 1, 2]],
])('by the one of both that there is: %j', async (rule, left) => {
  const { run, hoursLeft } = await expire([undefined, 1, 100])
  await run(rule)
  expect(await hoursLeft()).toEqual(left)
})

it('leaves what somebody else has changed or deleted since it was read', async () => {
  const { run, hoursLeft } = await expire(
    [undefined, undefined, 100, 100],
    async (all, { documents, deleteDocument }) => {
      const [kept, deleted, longer, never] = all as [
        WorkspaceDocument,
        WorkspaceDocument,
        WorkspaceDocument,
        WorkspaceDocument,
      ]
      const in50 = new Date(NOW_MS + 50 * HOUR_MS)
      await documents.setExpiry(kept, in50, signal)
      await deleteDocument(deleted)
      await documents.setExpiry(longer, in50, signal)
      await documents.setExpiry(never, undefined, signal)
    },
  )
  expect(await run(RULE)).toMatchObject({ documents: 4, changed: 0 })
  expect(await hoursLeft()).toEqual([50, 'gone', 50, undefined])
})
