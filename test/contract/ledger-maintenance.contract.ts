import { describe, expect, it } from 'vitest'
import type { LedgerMaintenance } from '../../lib/ledger/ports/ledger-maintenance.ts'
import type { QuotaLedger } from '../../lib/ledger/ports/quota-ledger.ts'
import type { WorkspaceLedger } from '../../lib/ledger/ports/workspace-ledgers.ts'
import { newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { DUE_MS, useDueWorkspace } from '../support/stores/use-due-workspace.ts'
import { describeCorrections } from './ledger-corrections.contract.ts'

const { signal } = new AbortController()

/** @param make as for describeQuotaLedger */
export function describeLedgerMaintenance(name: string, make: () => QuotaLedger & LedgerMaintenance): void {
  describe(`ledger maintenance: ${name}`, () => {
    const on = useDueWorkspace(make)
    const { reservation, take, read } = on

    const dueIn = async (shard: number, nowMs: number) =>
      (await Array.fromAsync(on.ledger.listDue({ shard, nowMs }, signal))).flat()
    const dueInShards = (nowMs: number) => Promise.all(on.ledger.dueShards.map((shard) => dueIn(shard, nowMs)))
    const due = async (nowMs: number) =>
      (await dueInShards(nowMs)).flat().filter((each) => each.workspaceId === on.workspaceId)

    it('reads a workspace as it is', async () => {
      expect(await on.ledger.read(on.workspaceId, signal)).toBeUndefined()
      const { attemptId } = await take()
      expect(await read()).toEqual({
        workspaceId: on.workspaceId,
        quotaBytes: 1000,
        usedBytes: 100,
        takings: [{ workspaceId: on.workspaceId, attemptId, sizeBytes: 100, leaseExpiresAtMs: DUE_MS }],
        releases: [],
        version: expect.any(Number),
        undos: 0,
        checkDueAtMs: DUE_MS,
      } satisfies WorkspaceLedger)
    })

    it('counts every change in its version, and nothing else', async () => {
      const one = await take()
      const release = newRelease(one, 'deletion')
      const changes = [
        () => on.ledger.unmark(one, signal),
        () => on.ledger.mark(release, signal),
        () => on.ledger.schedule(one, signal),
        () => on.ledger.giveBack(release, signal),
      ]
      for (const change of changes) {
        const { version } = await read()
        await change()
        expect((await read()).version).toBe(version + 1)
      }
      const before = await read()
      await on.ledger.unmark(one, signal)
      await on.ledger.giveBack(release, signal)
      await on.ledger.take(reservation({ sizeBytes: 1001 }), signal)
      expect(await read()).toEqual(before)
    })

    it('lists all workspaces, by id and with their ledgers', async () => {
      await take()
      const other = newAttempt({ workspaceId: newWorkspaceId() })
      await on.ledger.take(other, signal)
      await on.ledger.unmark(other, signal)
      const ids = await Array.fromAsync(on.ledger.list(signal))
      expect(ids).toEqual(expect.arrayContaining([on.workspaceId, other.workspaceId]))
      expect(new Set(ids).size).toBe(ids.length)
      const all = await Array.fromAsync(on.ledger.readAll(signal))
      expect(all).toContainEqual(await read())
      expect(all.map((each) => each.workspaceId).toSorted()).toEqual(ids.toSorted())
    })

    describe('what is due', () => {
      it.each(['take', 'mark', 'schedule'] as const)(
        'is a workspace from the end of the lease of its first %s',
        async (opens) => {
          const one = await take()
          if (opens !== 'take') {
            await on.ledger.unmark(one, signal)
            const { version } = await read()
            await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: undefined, version }, signal)
            expect(await due(DUE_MS)).toEqual([])
            if (opens === 'schedule') await on.ledger.schedule(one, signal)
            else await on.ledger.mark(newRelease(one, 'deletion', { leaseExpiresAtMs: DUE_MS }), signal)
          }
          expect(await due(DUE_MS - 1)).toEqual([])
          expect(await due(DUE_MS)).toEqual([{ workspaceId: on.workspaceId, checkDueAtMs: DUE_MS }])
        },
      )

      it('is listed in one shard, behind those that have waited longer', async () => {
        const others = await Promise.all(
          Array.from({ length: 40 }, async (_, number) => {
            const other = newAttempt({ workspaceId: newWorkspaceId(), leaseExpiresAtMs: DUE_MS - 1000 + number })
            await on.ledger.take(other, signal)
            return other.workspaceId
          }),
        )
        await take()
        const shards = await dueInShards(DUE_MS)
        expect(shards.flat().filter((each) => each.workspaceId === on.workspaceId)).toHaveLength(1)
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
          [1, 2, 3].map(() => on.ledger.lease(on.workspaceId, { seenDueAtMs: DUE_MS, untilMs }, signal)),
        )
        const held = claims.filter((claim) => claim !== undefined)
        expect(held).toEqual([await read()])
        expect(held).toMatchObject([{ checkDueAtMs: untilMs, version }])
        expect(await due(untilMs - 1)).toEqual([])
        expect(await due(untilMs)).toEqual([{ workspaceId: on.workspaceId, checkDueAtMs: untilMs }])
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: DUE_MS + 5 }, signal)
        expect((await read()).checkDueAtMs).toBe(untilMs)
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: untilMs, nextMs: DUE_MS + 5 }, signal)
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 5)
      })

      it('is not claimed when there is no ledger, or nothing is due', async () => {
        const claim = { seenDueAtMs: DUE_MS, untilMs: DUE_MS + 10 }
        expect(await on.ledger.lease(on.workspaceId, claim, signal)).toBeUndefined()
        expect(await on.ledger.read(on.workspaceId, signal)).toBeUndefined()
        await take({ leaseExpiresAtMs: DUE_MS + 1 })
        expect(await on.ledger.lease(on.workspaceId, claim, signal)).toBeUndefined()
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 1)
      })

      it('does not move with later changes, whatever becomes of the first', async () => {
        const one = await take()
        await take({ leaseExpiresAtMs: DUE_MS - 10 })
        await take({ leaseExpiresAtMs: DUE_MS + 10 })
        await on.ledger.schedule({ ...one, leaseExpiresAtMs: DUE_MS - 20 }, signal)
        await on.ledger.giveBack(one, signal)
        expect(await due(DUE_MS)).toEqual([{ workspaceId: on.workspaceId, checkDueAtMs: DUE_MS }])
      })

      it('is put off however much has changed, but not when somebody else has done so', async () => {
        await take()
        await take()
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: DUE_MS + 10 }, signal)
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: DUE_MS + 20 }, signal)
        const { version } = await read()
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: undefined, version }, signal)
        expect((await read()).checkDueAtMs).toBe(DUE_MS + 10)
      })

      it('ends when nothing is left, until the next change', async () => {
        const one = await take()
        await on.ledger.unmark(one, signal)
        const { version } = await read()
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: undefined, version }, signal)
        expect(await due(Number.MAX_SAFE_INTEGER)).toEqual([])
        expect(await read()).toMatchObject({ version, checkDueAtMs: undefined })
        await take({ leaseExpiresAtMs: DUE_MS + 30 })
        expect(await due(DUE_MS + 30)).toEqual([{ workspaceId: on.workspaceId, checkDueAtMs: DUE_MS + 30 }])
      })

      it.each(['take', 'schedule'])('does not end when a %s came since it was read', async (what) => {
        const one = await take()
        const { version } = await read()
        await (what === 'take' ? take() : on.ledger.schedule(one, signal))
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: undefined, version }, signal)
        expect(await due(DUE_MS)).toEqual([{ workspaceId: on.workspaceId, checkDueAtMs: DUE_MS }])
      })

      it('makes no ledger by being put off, or scheduled', async () => {
        await expect(on.ledger.schedule(reservation(), signal)).rejects.toThrow('has no ledger')
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: DUE_MS + 10 }, signal)
        await on.ledger.reschedule(on.workspaceId, { seenDueAtMs: DUE_MS, nextMs: undefined, version: 0 }, signal)
        expect(await on.ledger.read(on.workspaceId, signal)).toBeUndefined()
      })
    })

    describeCorrections(on)
  })
}
