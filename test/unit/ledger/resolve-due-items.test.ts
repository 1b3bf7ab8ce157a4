import { describe, expect, it, vi } from 'vitest'
import type { DocumentId } from '../../../lib/ids.ts'
import type { DueEntry } from '../../../lib/ledger/ports/documents.ts'
import { createPorts, LATE_COPY_MS, LEASE_MS, NOTHING, ONE_DOCUMENT, type Ports } from '../../support/ports.ts'
import {
  addExpired,
  done,
  IDLE,
  idsOf,
  nth,
  resolve,
  times,
  turns,
  whenRead,
  withExpired,
} from '../../support/unit/resolver-runs.ts'

const [A, B, C, D, ELSEWHERE] = [1, 2, 3, 4, 5]
const OTHERS = [6, 7, 8, 9, 10, 11, 12, 13, 14]
/** Of the index of due work. */
const SHARD = 14

const expire = (ports: Ports, change: Parameters<typeof resolve>[2] = {}) => resolve('expiry', ports, change)
const entryOf = (n: number, itemId: string, dueAtMs: number) => ({ workspaceId: nth(n), itemId, dueAtMs })

/** The index, of one shard, as a test has it. */
const listing = ({ deps }: Ports, pages: () => AsyncGenerator<DueEntry[]>) =>
  vi.spyOn(deps.dueWork, 'listDue').mockImplementation(pages)

describe('resolveDueItems', () => {
  it('goes on with what dead processes left once their leases are over, says what it was, and comes back for strays', async () => {
    const ports = createPorts()
    await ports.addDocument(ports.begin({ workspaceId: nth(2) }))
    const dead = await ports.run(['begin', 'copy', 'hold'], ports.begin({ workspaceId: nth(1) }))
    const deletion = await ports.addDocument(ports.begin({ workspaceId: nth(2) }))
    await ports.run(['delete'], { ...deletion, leaseEndsAtMs: 0 })
    const work = () => resolve('work', ports)
    ports.pass(LEASE_MS - 1)
    expect(await work()).toEqual(IDLE)
    ports.pass(1)
    expect(await work()).toEqual({ ...IDLE, resolved: 2, freed: 1 })
    expect(ports.state(nth(1))).toEqual({ ...NOTHING, unfinished: 1 })
    expect(ports.state(nth(2))).toEqual(ONE_DOCUMENT)
    ports.pass(LATE_COPY_MS - 1)
    expect(await work()).toEqual(IDLE)
    ports.pass(1)
    expect(await work()).toEqual({ ...IDLE, resolved: 1 })
    expect(ports.state(nth(1))).toEqual(NOTHING)
    ports.pass(10 * LATE_COPY_MS)
    expect(await work()).toEqual(IDLE)
    const line = { level: 'info', message: 'leftover resolved', workspace_id: nth(1), item_id: dead.documentId }
    const expected = [
      { ...line, workspace_id: nth(2), item_id: deletion.documentId, what: 'deleting' },
      { ...line, what: 'pending' },
      { ...line, item_id: `${dead.documentId}/${dead.attemptId}`, what: 'stray' },
    ]
    expect(ports.logged).toHaveLength(3)
    expect(ports.logged).toEqual(expect.arrayContaining(expected))
  })

  it('looks at the shards it is given only, each oldest first', async () => {
    const { ports, added } = await withExpired([...times(3, B), A, ...times(40, D), ...times(3, C)], SHARD)
    await addExpired(ports, [ELSEWHERE], SHARD + 1)
    const read: string[] = []
    whenRead(ports, ({ itemId }) => read.push(itemId))
    expect(await expire(ports, { shards: [SHARD] })).toEqual(done(47))
    expect(ports.state(nth(ELSEWHERE))).toEqual(ONE_DOCUMENT)
    for (const n of [A, B, D, C]) {
      const own = idsOf(added.filter(({ workspaceId }) => workspaceId === nth(n)))
      expect(read.filter((id) => own.includes(id as never))).toEqual(own)
    }
    // One at a time of the full workspace: the others need not wait for the rest.
    expect(read.indexOf(added.at(-1)?.documentId as never)).toBeLessThan(16)
  })

  it('gives each workspace its turn, however many items of others were due before its own', async () => {
    const { ports, added } = await withExpired([A], SHARD)
    const [last] = idsOf(added) as [DocumentId]
    const { nowMs } = ports.clock
    // The index lags: these are gone. So many pages that the large workspaces take all places.
    listing(ports, async function* () {
      for (let page = 0; page < 10; page++) {
        yield OTHERS.flatMap((n) => Array.from({ length: 40 }, (_, of) => entryOf(n, `file_${n}_${page}_${of}`, nowMs)))
      }
      yield [entryOf(A, last, nowMs)]
    })
    const read: string[] = []
    whenRead(ports, async ({ itemId }) => {
      read.push(itemId)
      await turns(1)
    })
    expect(await expire(ports, { shards: [SHARD] })).toEqual(done(1))
    expect(read).toHaveLength(3601)
    // The nine others have had a turn of ten items for each page before it.
    expect(read.indexOf(last)).toBeLessThan(1000)
  })

  it('works on some at once, over all shards, and on one at a time of a workspace in each', async () => {
    const { ports } = await withExpired(times(100, A), SHARD)
    const others = Array.from({ length: 200 }, (_, n) => n)
    await addExpired(ports, others)
    const now = { all: 0, own: 0 }
    const most = { all: 0, own: 0 }
    whenRead(ports, async ({ workspaceId }) => {
      const isOwn = workspaceId === nth(A) ? 1 : 0
      most.all = Math.max(most.all, ++now.all)
      now.own += isOwn
      most.own = Math.max(most.own, now.own)
      await turns(3)
      now.all--
      now.own -= isOwn
    })
    const { resolved } = await expire(ports, { shards: [SHARD] })
    expect(most.own).toBe(1)
    expect(await expire(ports)).toEqual(done(300 - resolved))
    expect([most.all > 32, most.all <= 64]).toEqual([true, true])
  })

  it('begins with a page before it reads the next, and comes back to a workspace that is on that, too', async () => {
    const { ports, added } = await withExpired(times(40, A), SHARD)
    const reading = whenRead(ports, () => {})
    const readBy: number[] = []
    listing(ports, async function* () {
      for (const page of [added.slice(0, 20), added.slice(20)]) {
        yield idsOf(page).map((id) => entryOf(A, id, ports.clock.nowMs))
        await turns(100)
        readBy.push(reading.mock.calls.length)
      }
    })
    expect(await expire(ports, { shards: [SHARD] })).toEqual(done(40))
    // A turn is of ten items.
    expect(readBy[0]).toBe(10)
  })

  it('leaves more of a workspace than a run gets to, and says so', async () => {
    const { ports, added } = await withExpired([B], SHARD)
    const [other] = idsOf(added) as [DocumentId]
    const { nowMs } = ports.clock
    listing(ports, async function* () {
      const many = times(6000, A).map((n, index) => entryOf(n, `file_${index}`, nowMs - 10_000 + index))
      yield [...many, entryOf(B, other, nowMs)]
    })
    const reading = whenRead(ports, () => turns(1))
    expect(await expire(ports, { shards: [SHARD] })).toEqual({ ...done(1), oldestMs: 10_000 - 5000 })
    expect(reading).toHaveBeenCalledTimes(5001)
  })
})
