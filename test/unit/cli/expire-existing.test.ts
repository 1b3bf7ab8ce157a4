import { expect, it, vi } from 'vitest'
import { expireExisting } from '../../../infra/cli/commands/documents-commands.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/document-records.ts'
import { UnreadableItemError } from '../../../lib/ledger/ports/unreadable-item.ts'
import { createPorts } from '../../support/ports.ts'
import { newAttempt, newDocument } from '../../support/stores/ledger-values.ts'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000
/** A whole second: expiries are on one. */
const NOW_MS = 1_800_000_000_000
const RULE = { expireAfterSeconds: 2 * 3600, expireAtMostSeconds: 3 * 3600 }

/** Documents that expire so many hours from now; undefined: never. @param meanwhile what happens once all are read */
async function expire(hours: (number | undefined)[], meanwhile: (each: WorkspaceDocument[]) => unknown = () => {}) {
  vi.setSystemTime(NOW_MS)
  const clock = { nowMs: NOW_MS }
  const { deps } = createPorts({ clock })
  const all = hours.map((hour): WorkspaceDocument => {
    const expiresAt = hour === undefined ? {} : { expiresAt: new Date(NOW_MS + hour * HOUR_MS) }
    return { ...newDocument(newAttempt()), ...expiresAt }
  })
  for (const each of all) await deps.documents.record(each, signal)
  const documents = {
    async *list(_: string, __: AbortSignal, onUnreadable: (error: Error) => void) {
      await meanwhile(all)
      onUnreadable(new UnreadableItemError('an item'))
      yield* all
    },
  }
  const run = async (rule: object) => {
    const output = { progress() {}, done: vi.fn() }
    const session = { output, signal, stores: async () => ({ documents, expiries: deps.expiries }) } as never
    const code = await expireExisting(session, all[0]?.workspaceId as never, rule)
    return { code, ...output.done.mock.lastCall?.[1] }
  }
  const hoursLeft = async () => {
    const found = await Promise.all(all.map((each) => deps.documents.find(each.workspaceId, each.documentId, signal)))
    const left = (expiresAt: Date | undefined) => expiresAt && (expiresAt.getTime() - NOW_MS) / HOUR_MS
    return found.map((each) => (each ? left(each.expiresAt) : 'gone'))
  }
  return { deps, run, hoursLeft, all }
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
  const { run, hoursLeft, deps } = await expire(
    [undefined, undefined, 100, 100],
    async ([kept, deleted, longer, never]) => {
      if (!(kept && deleted && longer && never)) throw new Error('four documents are needed')
      const in50 = new Date(NOW_MS + 50 * HOUR_MS)
      await deps.expiries.setExpiry(kept, in50, signal)
      await deps.documents.delete(deleted, signal)
      await deps.expiries.setExpiry(longer, in50, signal)
      await deps.expiries.setExpiry(never, undefined, signal)
    },
  )
  expect(await run(RULE)).toMatchObject({ documents: 4, changed: 0 })
  expect(await hoursLeft()).toEqual([50, 'gone', 50, undefined])
})
