import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { LedgerMaintenance } from '../../lib/maintenance/ledger-maintenance.ts'
import type { QuotaLedger } from '../../lib/promotion/quota-ledger.ts'
import type { Reservation } from '../../lib/promotion/reservations.ts'
import type { WorkspaceLedger } from '../../lib/promotion/workspace-ledgers.ts'
import { newRelease, newReservation, newWorkspaceId } from '../support/ledger-values.ts'

const { signal } = new AbortController()
/** No other suite's workspaces are due so early. */
const DUE_MS = 1_000_000

/** @param make as for describeQuotaLedger */
export function describeLedgerMaintenance(name: string, make: () => QuotaLedger & LedgerMaintenance): void {
  describe(`ledger maintenance: ${name}`, () => {
    let ledger: QuotaLedger & LedgerMaintenance
    let workspaceId: WorkspaceId
    beforeEach(() => {
      ledger = make()
      workspaceId = newWorkspaceId()
    })

    const reservation = (change: Partial<Reservation> = {}) =>
      newReservation({ workspaceId, leaseExpiresAtMs: DUE_MS, ...change })
    const take = async (change: Partial<Reservation> = {}) => {
      const one = reservation(change)
      expect((await ledger.take(one, signal)).outcome).toBe('taken')
      return one
    }
    const read = async () => {
      const found = await ledger.read(workspaceId, signal)
      if (!found) throw new Error(`${workspaceId} has no ledger`)
      return found
    }
    const collect = async <Element>(elements: AsyncIterable<Element>) => {
      const all: Element[] = []
      for await (const each of elements) all.push(each)
      return all
    }
    const dueInShards = async (nowMs: number) => {
      const shards = await Promise.all(
        ledger.shards.map(async (shard) => (await collect(ledger.listDue({ shard, nowMs }, signal))).flat()),
      )
      return shards
    }
    const due = async (nowMs: number) =>
      (await dueInShards(nowMs)).flat().filter((each) => each.workspaceId === workspaceId)

    it('reads a workspace as it is', async () => {
      expect(await ledger.read(workspaceId, signal)).toBeUndefined()
      const { attemptId } = await take()
      expect(await read()).toEqual({
        workspaceId,
        quotaBytes: 1000,
        usedBytes: 100,
        takings: [{ workspaceId, attemptId, sizeBytes: 100, leaseExpiresAtMs: DUE_MS }],
        releases: [],
        version: expect.any(Number),
        undone: 0,
        checkDueAtMs: DUE_MS,
      } satisfies WorkspaceLedger)
    })

    it('counts every change in its version, and nothing else', async () => {
      const one = await take()
      const release = newRelease(one, 'deletion')
      const changes = [
        () => ledger.unmark(one, signal),
        () => ledger.mark(release, signal),
        () => ledger.release(release, signal, { keepsMarker: true }),
        () => ledger.unmark(release, signal),
      ]
      for (const change of changes) {
        const { version } = await read()
        await change()
        expect((await read()).version).toBe(version + 1)
      }
      const before = await read()
      await ledger.unmark(one, signal)
      await ledger.release(release, signal)
      await ledger.take(reservation({ sizeBytes: 1001 }), signal)
      expect(await read()).toEqual(before)
    })

    it('lists all workspaces, by id and with their ledgers', async () => {
      await take()
      const other = newReservation({ workspaceId: newWorkspaceId() })
      await ledger.take(other, signal)
      await ledger.unmark(other, signal)
      const ids = await collect(ledger.list(signal))
      expect(ids).toEqual(expect.arrayContaining([workspaceId, other.workspaceId]))
      expect(new Set(ids).size).toBe(ids.length)
      const all = await collect(ledger.readAll(signal))
      expect(all).toContainEqual(await read())
      expect(all.map((each) => each.workspaceId).toSorted()).toEqual(ids.toSorted())
    })

    describe('what is due', () => {
      it.each(['take', 'mark'] as const)('is a workspace from the end of the lease of its first %s', async (opens) => {
        const one = await take()
        if (opens === 'mark') {
          await ledger.unmark(one, signal)
          const { version } = await read()
          await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: undefined, version }, signal)
          expect(await due(DUE_MS)).toEqual([])
          await ledger.mark(newRelease(one, 'deletion', { leaseExpiresAtMs: DUE_MS }), signal)
        }
        expect(await due(DUE_MS - 1)).toEqual([])
        expect(await due(DUE_MS)).toEqual([{ workspaceId, checkDueAtMs: DUE_MS }])
      })

      it('is listed in one shard, behind those that have waited longer', async () => {
        const others = await Promise.all(
          Array.from({ length: 40 }, async (_, number) => {
            const other = newReservation({ workspaceId: newWorkspaceId(), leaseExpiresAtMs: DUE_MS - 1000 + number })
            await ledger.take(other, signal)
            return other.workspaceId
          }),
        )
        await take()
        const shards = await dueInShards(DUE_MS)
        expect(shards.flat().filter((each) => each.workspaceId === workspaceId)).toHaveLength(1)
        const listed = shards.flat().map((each) => each.workspaceId)
        expect(listed).toEqual(expect.arrayContaining(others))
        for (const shard of shards) {
          const times = shard.map(({ checkDueAtMs }) => checkDueAtMs)
          expect(times).toEqual(times.toSorted((one, other) => one - other))
        }
      })

      it('is claimed by one alone, until the time it says', async () => {
        await take()
        const { version } = await read()
        const untilMs = DUE_MS + 10
        const claims = await Promise.all(
          [1, 2, 3].map(() => ledger.claim(workspaceId, { seenMs: DUE_MS, untilMs }, signal)),
        )
        const held = claims.filter((claim) => claim !== undefined)
        expect(held).toEqual([await read()])
        expect(held).toMatchObject([{ checkDueAtMs: untilMs, version }])
        expect(await due(untilMs - 1)).toEqual([])
        expect(await due(untilMs)).toEqual([{ workspaceId, checkDueAtMs: untilMs }])
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: DUE_MS + 5 }, signal)
        expect((await read()).checkDueAtMs).toBe(untilMs)
        await ledger.reschedule(workspaceId, { seenMs: untilMs, nextMs: DUE_MS + 5 }, signal)
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 5)
      })

      it('is not claimed when there is no ledger, or nothing is due', async () => {
        const claim = { seenMs: DUE_MS, untilMs: DUE_MS + 10 }
        expect(await ledger.claim(workspaceId, claim, signal)).toBeUndefined()
        expect(await ledger.read(workspaceId, signal)).toBeUndefined()
        await take({ leaseExpiresAtMs: DUE_MS + 1 })
        expect(await ledger.claim(workspaceId, claim, signal)).toBeUndefined()
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 1)
      })

      it('does not move with later changes, whatever becomes of the first', async () => {
        const one = await take()
        await take({ leaseExpiresAtMs: DUE_MS - 10 })
        await take({ leaseExpiresAtMs: DUE_MS + 10 })
        await ledger.release(one, signal)
        expect(await due(DUE_MS)).toEqual([{ workspaceId, checkDueAtMs: DUE_MS }])
      })

      it('is put off', async () => {
        await take()
        const { version } = await read()
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: DUE_MS + 10 }, signal)
        expect(await due(DUE_MS + 9)).toEqual([])
        expect(await due(DUE_MS + 10)).toEqual([{ workspaceId, checkDueAtMs: DUE_MS + 10 }])
        expect((await read()).version).toBe(version)
      })

      it('is put off however much has changed, but not when somebody else has done so', async () => {
        await take()
        await take()
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: DUE_MS + 10 }, signal)
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: DUE_MS + 20 }, signal)
        const { version } = await read()
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: undefined, version }, signal)
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 10)
      })

      it('ends when nothing is left, until the next change', async () => {
        const one = await take()
        await ledger.unmark(one, signal)
        const { version } = await read()
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: undefined, version }, signal)
        expect(await due(Number.MAX_SAFE_INTEGER)).toEqual([])
        expect(await read()).toMatchObject({ version, checkDueAtMs: undefined })
        await take({ leaseExpiresAtMs: DUE_MS + 30 })
        expect(await due(DUE_MS + 30)).toEqual([{ workspaceId, checkDueAtMs: DUE_MS + 30 }])
      })

      it('does not end when something has changed since it was read', async () => {
        await take()
        const { version } = await read()
        await take()
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: undefined, version }, signal)
        expect(await due(DUE_MS)).toEqual([{ workspaceId, checkDueAtMs: DUE_MS }])
      })

      it('makes no ledger by being put off', async () => {
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: DUE_MS + 10 }, signal)
        await ledger.reschedule(workspaceId, { seenMs: DUE_MS, nextMs: undefined, version: 0 }, signal)
        expect(await ledger.read(workspaceId, signal)).toBeUndefined()
      })
    })

    describe('correct', () => {
      const correct = (
        expectedBytes: number,
        version: number | undefined,
        usedBytes = 100,
        lastVersion = version ?? 0,
      ) =>
        ledger.correct(
          workspaceId,
          { usedBytes, expectedBytes, ...(version !== undefined && { at: { version, lastVersion } }) },
          signal,
        )

      it.each([
        ['up', 700],
        ['down', 40],
      ])('changes the used bytes by the drift, %s, and nothing else', async (_, expectedBytes) => {
        await take()
        const before = await read()
        expect(await correct(expectedBytes, before.version)).toBe(true)
        expect(await read()).toEqual({ ...before, usedBytes: expectedBytes, version: before.version + 1 })
      })

      it('keeps what has changed since the drift was seen', async () => {
        const one = await take()
        const { version } = await read()
        await take({ sizeBytes: 300 })
        await ledger.release(one, signal)
        expect(await correct(170, version)).toBe(true)
        expect((await read()).usedBytes).toBe(370)
      })

      it('does so once, however often, and by however many who have seen the same', async () => {
        await take()
        const { version: first } = await read()
        await take()
        const { version: second } = await read()
        await take()
        const done = await Promise.all([
          ...Array.from({ length: 5 }, () => correct(40, first)),
          ...Array.from({ length: 5 }, () => correct(140, second, 200)),
        ])
        expect(done).toEqual(Array(10).fill(true))
        expect((await read()).usedBytes).toBe(240)
      })

      it('does so again for a drift that was seen after the last correction', async () => {
        await take()
        expect(await correct(40, (await read()).version)).toBe(true)
        const { version } = await read()
        await take()
        expect(await correct(35, version, 40)).toBe(true)
        expect((await read()).usedBytes).toBe(135)
      })

      it('leaves a ledger alone that was made since', async () => {
        await take()
        const { version } = await read()
        expect(await correct(700, undefined)).toBe(false)
        expect(await correct(700, version + 1)).toBe(false)
        expect(await correct(700, version - 700_000, 100, version - 600_001)).toBe(false)
        expect((await read()).usedBytes).toBe(100)
        expect(await correct(700, version - 700_000, 100, version - 600_000)).toBe(true)
      })

      it('makes the ledger of a workspace that has lost it', async () => {
        expect(await correct(700, 1)).toBe(false)
        expect(await correct(700, undefined)).toBe(true)
        expect(await correct(700, undefined)).toBe(false)
        expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 700 })
        expect(await ledger.take(reservation({ sizeBytes: 301 }), signal)).toMatchObject({ outcome: 'quota_exceeded' })
        await take({ sizeBytes: 300 })
      })
    })
  })
}
