import { describe, expect, it } from 'vitest'
import type { DueWorkspaceOfTest } from '../support/stores/use-due-workspace.ts'

const { signal } = new AbortController()

/** The part of the contract of the ledger's maintenance that changes what is counted. */
export function describeCorrections(on: DueWorkspaceOfTest): void {
  const { reservation, take, read } = on

  describe('correct', () => {
    const correct = (expectedBytes: number, version: number | undefined, usedBytes = 100, lastVersion = version ?? 0) =>
      on.ledger.correct(
        on.workspaceId,
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
      await on.ledger.giveBack(one, signal)
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
      expect(await on.ledger.usage(on.workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 700 })
      expect(await on.ledger.take(reservation({ sizeBytes: 301 }), signal)).toMatchObject({ outcome: 'quota_exceeded' })
      await take({ sizeBytes: 300 })
    })
  })
}
