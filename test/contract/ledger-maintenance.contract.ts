import { describe, expect, it } from 'vitest'
import { newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { type MakeTableStores, useTableStores } from '../support/stores/table-stores.ts'
import { describeShares } from './shares.ts'

const { signal } = new AbortController()

export function describeLedgerMaintenance(name: string, make: MakeTableStores): void {
  describe(`ledger maintenance: ${name}`, () => {
    const on = useTableStores(make)
    const { attempt, taken, counted, ledgerNow } = on
    const read = () => on.ledger.read(on.workspaceId, signal)
    const usage = () => on.ledger.usage(on.workspaceId, signal)
    const take = (one: ReturnType<typeof attempt>) => on.ledger.take(one, signal, 0)
    const create = () => on.ledger.create(on.workspaceId, 500, signal)

    it('lists all workspaces, by id and with their ledgers', async () => {
      await taken()
      const other = attempt({ workspaceId: newWorkspaceId() })
      await take(other)
      const ids = await Array.fromAsync(on.ledger.list(signal))
      expect(ids).toEqual(expect.arrayContaining([on.workspaceId, other.workspaceId]))
      const all = await Array.fromAsync(on.ledger.readAll(signal))
      expect(all).toContainEqual(await read())
      expect(all.map((each) => each.workspaceId).toSorted()).toEqual(ids.toSorted())
    })

    describeShares({
      list: (share) => on.ledger.list(signal, share),
      add: (workspaceId) => on.ledger.create(workspaceId, 1000, signal),
    })

    describe('correct', () => {
      const correct = (expectedBytes: number, version?: number, { usedBytes = 100, last = version ?? 0 } = {}) => {
        const at = version !== undefined && { at: { version, lastVersion: last } }
        return on.ledger.correct(on.workspaceId, { usedBytes, expectedBytes, ...at }, signal)
      }

      it.each([
        ['up', 700],
        ['down', 40],
      ])('changes the used bytes by the drift, %s, once, and nothing else', async (_, expectedBytes) => {
        await taken()
        const before = await ledgerNow()
        for (let times = 0; times < 2; times++) expect(await correct(expectedBytes, before.version)).toBe(true)
        expect(await ledgerNow()).toEqual({ ...before, usedBytes: expectedBytes, version: before.version + 1 })
      })

      it('keeps what has changed since the drift was seen, a quota too', async () => {
        const one = await taken()
        const { version } = await ledgerNow()
        await taken({ sizeBytes: 300 })
        await on.ledger.giveBack(one, signal)
        await on.ledger.setQuota(on.workspaceId, { shownBytes: 1000, toBytes: 400 }, signal)
        expect(await correct(170, version)).toBe(true)
        expect(await usage()).toEqual({ quotaBytes: 400, usedBytes: 370 })
      })

      it('does so once, however often, and by however many who have seen the same', async () => {
        await taken()
        const { version: first } = await ledgerNow()
        await taken()
        const { version: second } = await ledgerNow()
        await taken()
        const done = await Promise.all([
          ...Array.from({ length: 5 }, () => correct(40, first)),
          ...Array.from({ length: 5 }, () => correct(140, second, { usedBytes: 200 })),
        ])
        expect(done).toEqual(Array(10).fill(true))
        expect((await usage())?.usedBytes).toBe(240)
      })

      it('does so again for a drift that was seen after the last correction', async () => {
        await taken()
        expect(await correct(40, (await ledgerNow()).version)).toBe(true)
        const { version } = await ledgerNow()
        await taken()
        expect(await correct(35, version, { usedBytes: 40 })).toBe(true)
        expect((await usage())?.usedBytes).toBe(135)
      })

      it('leaves a ledger alone that was made since', async () => {
        await taken()
        const { version } = await ledgerNow()
        expect(await correct(700)).toBe(false)
        expect(await correct(700, version + 1)).toBe(false)
        expect(await correct(700, version - 700_000, { last: version - 600_001 })).toBe(false)
        expect((await usage())?.usedBytes).toBe(100)
        expect(await correct(700, version - 700_000, { last: version - 600_000 })).toBe(true)
      })

      it('makes the ledger of a workspace that has lost it', async () => {
        expect(await correct(700, 1)).toBe(false)
        expect(await correct(700)).toBe(true)
        expect(await correct(700)).toBe(false)
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 700 })
        expect(await take(attempt({ sizeBytes: 301 }))).toMatchObject({ outcome: 'quota_exceeded' })
        await taken({ sizeBytes: 300 })
      })
    })

    describe('remove', () => {
      const remove = (version: number | undefined) => on.ledger.remove(on.workspaceId, version, signal)

      it('takes an empty one away, once or twice, and is fine with one that was never there', async () => {
        expect(await remove(undefined)).toBe(true)
        await create()
        const { version } = await ledgerNow()
        for (let times = 0; times < 2; times++) expect(await remove(version)).toBe(true)
        expect(await read()).toBeUndefined()
        // Then it is as one that was never seen.
        expect(await take(attempt())).toMatchObject({ outcome: 'taken', ledger: { quotaBytes: 1000 } })
      })

      it.each<[string, () => Promise<unknown>, seen?: 'before' | 'never']>([
        ['counts bytes', () => counted(1)],
        ['has a taking under way that weighs nothing', () => taken({ sizeBytes: 0 })],
        [
          'has a release under way that weighs nothing',
          () => on.ledger.mark(newRelease(attempt({ sizeBytes: 0 })), signal, 0),
        ],
        [
          'changed since it was looked at, although it is empty again',
          async () => on.ledger.giveBack(await taken(), signal),
          'before',
        ],
        ['was made after none was seen', async () => {}, 'never'],
      ])('refuses one that %s, and changes nothing', async (_, change, seen) => {
        await create()
        const { version: made } = await ledgerNow()
        await change()
        const before = await ledgerNow()
        expect(await remove(seen === 'before' ? made : seen === 'never' ? undefined : before.version)).toBe(false)
        expect(await ledgerNow()).toEqual(before)
      })

      it('loses to a promotion or wins against it, and never takes counted bytes away', async () => {
        await create()
        const { version } = await ledgerNow()
        const [isRemoved] = await Promise.all([remove(version), taken()])
        expect(await ledgerNow()).toMatchObject({ usedBytes: 100, quotaBytes: isRemoved ? 1000 : 500 })
      })
    })
  })
}
