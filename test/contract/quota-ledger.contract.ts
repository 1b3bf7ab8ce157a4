import { beforeEach, describe, expect, it } from 'vitest'
import { newAttemptId, newDocumentId, type WorkspaceId } from '../../lib/promotion/ids.ts'
import type { LedgerOverview, QuotaLedger, Reservation } from '../../lib/promotion/ports.ts'

export const LEDGER_LIMITS = { defaultQuotaBytes: 1000, maxReservations: 3 }
const signal = AbortSignal.timeout(60_000)

export function describeQuotaLedger(name: string, make: () => QuotaLedger & LedgerOverview): void {
  describe(`quota ledger: ${name}`, () => {
    let ledger: QuotaLedger & LedgerOverview
    let workspaceId: WorkspaceId
    const reservation = (sizeBytes: number, ids: Partial<Reservation> = {}): Reservation => ({
      workspaceId,
      documentId: newDocumentId(),
      attemptId: newAttemptId(),
      sizeBytes,
      objectKey: 'documents/some/key',
      leaseExpiresAtMs: 1_800_000_000_000,
      ...ids,
    })
    /** What a reservation of nothing reports. */
    const usage = async () => {
      const probe = reservation(0)
      const reserved = await ledger.reserve(probe, signal)
      await ledger.release(probe, signal)
      return 'usage' in reserved ? reserved.usage : reserved
    }

    beforeEach(() => {
      ledger = make()
      workspaceId = `ws_${newAttemptId()}` as WorkspaceId
    })

    it('starts an unknown workspace with the default quota', async () => {
      expect(await ledger.reserve(reservation(400), signal)).toEqual({
        outcome: 'reserved',
        usage: { quotaBytes: 1000, usedBytes: 400 },
        mayRepeat: false,
      })
    })

    it('reserves up to the last byte and not one more', async () => {
      await ledger.reserve(reservation(400), signal)
      const full = { quotaBytes: 1000, usedBytes: 1000 }
      expect(await ledger.reserve(reservation(601), signal)).toMatchObject({
        outcome: 'quota_exceeded',
        usage: { quotaBytes: 1000, usedBytes: 400 },
      })
      expect(await ledger.reserve(reservation(600), signal)).toMatchObject({ outcome: 'reserved', usage: full })
      expect(await ledger.reserve(reservation(1), signal)).toMatchObject({ outcome: 'quota_exceeded', usage: full })
      expect(await ledger.reserve(reservation(0), signal)).toMatchObject({ outcome: 'reserved', usage: full })
    })

    it('takes a repeated reserve for the same one', async () => {
      const one = reservation(700)
      await ledger.reserve(one, signal)
      expect(await ledger.reserve(one, signal)).toEqual({
        outcome: 'reserved',
        usage: { quotaBytes: 1000, usedBytes: 700 },
        mayRepeat: true,
      })
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 700 })
    })

    it('refuses a second attempt at a document whose first is open', async () => {
      const one = reservation(100)
      await ledger.reserve(one, signal)
      const other = reservation(100, { documentId: one.documentId })
      expect(await ledger.reserve(other, signal)).toMatchObject({ outcome: 'in_progress' })
      await ledger.release(other, signal)
      await ledger.settle(other, signal)
      expect(await ledger.reserve(other, signal)).toMatchObject({ outcome: 'in_progress' })
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 100 })
    })

    it('keeps the bytes counted when a reservation is settled, once or twice', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.settle(one, signal)
      await ledger.settle(one, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 300 })
    })

    it('gives the bytes back when a reservation is released, and only once', async () => {
      const [kept, one] = [reservation(300), reservation(500)]
      await ledger.reserve(kept, signal)
      await ledger.reserve(one, signal)
      await ledger.release(one, signal)
      await ledger.release(one, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 300 })
    })

    it('gives nothing back for a settled reservation', async () => {
      const one = reservation(500)
      await ledger.reserve(one, signal)
      await ledger.settle(one, signal)
      await ledger.release(one, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 500 })
    })

    it('gives back what was reserved, whatever the caller says it was', async () => {
      const one = reservation(500)
      await ledger.reserve(one, signal)
      await ledger.release({ ...one, sizeBytes: 900 }, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
    })

    it('settles and releases nothing in a workspace it has never seen', async () => {
      await ledger.settle(reservation(1), signal)
      await ledger.release(reservation(1), signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
    })

    it('refuses more open reservations than its item can hold, and takes them again later', async () => {
      const open = [reservation(1), reservation(1), reservation(1)]
      for (const each of open) await ledger.reserve(each, signal)
      expect(await ledger.reserve(reservation(1), signal)).toMatchObject({ outcome: 'too_many_reservations' })
      expect(await ledger.reserve(open[0] as Reservation, signal)).toMatchObject({ outcome: 'reserved' })
      await ledger.settle(open[0] as Reservation, signal)
      expect(await ledger.reserve(reservation(1), signal)).toMatchObject({ outcome: 'reserved' })
    })

    it('names the quota when both it and the number of reservations stand in the way', async () => {
      for (let i = 0; i < 3; i++) await ledger.reserve(reservation(300), signal)
      expect(await ledger.reserve(reservation(300), signal)).toMatchObject({ outcome: 'quota_exceeded' })
    })

    it('lets exactly as many of simultaneous reservations in as fit', async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => ledger.reserve(reservation(400), signal)))
      expect(outcomes.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(2)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 800 })
    })

    it('keeps workspaces apart', async () => {
      await ledger.reserve(reservation(1000), signal)
      const other = reservation(1000, { workspaceId: `ws_${newAttemptId()}` as WorkspaceId })
      expect(await ledger.reserve(other, signal)).toMatchObject({ outcome: 'reserved' })
    })

    it.each(['settle', 'release'] as const)(
      'does not take a late repetition of a reserve for a new one, after %s',
      async (close) => {
        const one = reservation(300)
        await ledger.reserve(one, signal)
        await ledger[close]({ ...one, mayRepeat: true }, signal)
        const used = close === 'settle' ? 300 : 0
        // The repetition arrives: it finds the closed reservation, and changes nothing.
        await ledger.reserve(one, signal)
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: used })
        const [closed] = (await ledger.read(workspaceId, signal))?.reservations ?? []
        expect(closed).toEqual({ ...one, sizeBytes: 0, purpose: 'closed' })
        await ledger.settle({ ...one }, signal)
        expect((await ledger.read(workspaceId, signal))?.reservations).toEqual([])
        expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: used })
      },
    )

    it('gives the bytes back and keeps watch over a copy that may arrive late', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.releaseAndWatch(one, signal)
      await ledger.releaseAndWatch(one, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
      const [watch, ...others] = (await ledger.read(workspaceId, signal))?.reservations ?? []
      expect(others).toEqual([])
      expect(watch).toEqual({ ...one, documentId: `late_copy_${one.attemptId}`, sizeBytes: 0, purpose: 'late_copy' })
      expect(await ledger.reserve({ ...one, attemptId: newAttemptId() }, signal)).toMatchObject({ outcome: 'reserved' })
    })

    it('watches for a late copy even when somebody else has released the reservation', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.release(one, signal)
      await ledger.releaseAndWatch(one, signal)
      expect((await ledger.read(workspaceId, signal))?.reservations).toMatchObject([
        { purpose: 'late_copy', sizeBytes: 0 },
      ])
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
    })

    it('watches for a late copy even when a new attempt at the document has begun', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.release(one, signal)
      const next = { ...one, attemptId: newAttemptId() }
      await ledger.reserve(next, signal)
      await ledger.releaseAndWatch(one, signal)
      const open = (await ledger.read(workspaceId, signal))?.reservations ?? []
      expect(open.map(({ purpose, attemptId }) => [purpose, attemptId]).toSorted()).toEqual([
        ['late_copy', one.attemptId],
        ['promotion', next.attemptId],
      ])
      expect((await ledger.usage(workspaceId, signal))?.usedBytes).toBe(300)
    })

    it('tells whether a document is being worked on', async () => {
      const one = reservation(300)
      expect(await ledger.isReserved(one, signal)).toBe(false)
      await ledger.reserve(one, signal)
      expect(await ledger.isReserved(one, signal)).toBe(true)
      expect(await ledger.isReserved(reservation(1), signal)).toBe(false)
      await ledger.settle(one, signal)
      expect(await ledger.isReserved(one, signal)).toBe(false)
    })

    it('opens one deletion of a document at a time, which changes no bytes until it is released', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.settle(one, signal)
      const deletion = { ...one, attemptId: newAttemptId() }
      expect(await ledger.beginDeletion(deletion, signal)).toEqual({ outcome: 'begun', mayRepeat: false })
      expect(await ledger.beginDeletion(deletion, signal)).toEqual({ outcome: 'begun', mayRepeat: true })
      expect(await ledger.beginDeletion({ ...one, attemptId: newAttemptId() }, signal)).toEqual({
        outcome: 'in_progress',
      })
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 300 })
      await ledger.release(deletion, signal)
      await ledger.release(deletion, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
    })

    it('does not take a late repetition of a deletion for a new one', async () => {
      const one = reservation(300)
      await ledger.reserve(one, signal)
      await ledger.settle(one, signal)
      const deletion = { ...one, attemptId: newAttemptId() }
      await ledger.beginDeletion(deletion, signal)
      await ledger.release({ ...deletion, mayRepeat: true }, signal)
      await ledger.beginDeletion(deletion, signal)
      await ledger.release(deletion, signal)
      expect(await usage()).toEqual({ quotaBytes: 1000, usedBytes: 0 })
    })

    it('opens no deletion in a workspace it has never seen', async () => {
      expect(await ledger.beginDeletion(reservation(1), signal)).toEqual({ outcome: 'in_progress' })
    })

    it('tells the usage, and nothing of a workspace it has never seen', async () => {
      expect(await ledger.usage(workspaceId, signal)).toBeUndefined()
      await ledger.reserve(reservation(300), signal)
      expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 300 })
    })

    it('names the open reservations in every refusal', async () => {
      const open = [reservation(300), reservation(300), reservation(300)]
      for (const each of open) await ledger.reserve(each, signal)
      const expected = expect.arrayContaining(open.map((each) => ({ ...each, purpose: 'promotion' })))
      expect(await ledger.reserve(reservation(101), signal)).toMatchObject({
        outcome: 'quota_exceeded',
        open: expected,
      })
      expect(await ledger.reserve(reservation(1), signal)).toMatchObject({
        outcome: 'too_many_reservations',
        open: expected,
      })
      const twin = { ...(open[0] as Reservation), attemptId: newAttemptId() }
      expect(await ledger.reserve(twin, signal)).toMatchObject({ outcome: 'in_progress', open: expected })
    })

    describe('overview', () => {
      const list = async (onlyWithReservations: boolean) => {
        const found = []
        for await (const ledgerOfOne of ledger.list({ onlyWithReservations }, signal)) found.push(ledgerOfOne)
        return found
      }

      it('reads a workspace as it is, its version growing with every change', async () => {
        expect(await ledger.read(workspaceId, signal)).toBeUndefined()
        const one = reservation(300)
        await ledger.reserve(one, signal)
        const open = await ledger.read(workspaceId, signal)
        expect(open).toMatchObject({
          workspaceId,
          quotaBytes: 1000,
          usedBytes: 300,
          reservations: [{ ...one, purpose: 'promotion' }],
        })
        await ledger.settle(one, signal)
        const settled = await ledger.read(workspaceId, signal)
        expect(settled).toMatchObject({ usedBytes: 300, reservations: [] })
        expect(settled?.version).toBeGreaterThan(open?.version ?? 0)
      })

      it('lists all workspaces, or those with reservations', async () => {
        const one = reservation(300)
        await ledger.reserve(one, signal)
        expect(await list(true)).toContainEqual(await ledger.read(workspaceId, signal))
        await ledger.settle(one, signal)
        expect((await list(true)).map((each) => each.workspaceId)).not.toContain(workspaceId)
        expect(await list(false)).toContainEqual(await ledger.read(workspaceId, signal))
      })

      it('corrects the used bytes, unless something has changed since', async () => {
        const one = reservation(300)
        await ledger.reserve(one, signal)
        const version = (await ledger.read(workspaceId, signal))?.version
        expect(await ledger.correct(workspaceId, { usedBytes: 700, version }, signal)).toBe(true)
        expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 700 })
        expect(await ledger.correct(workspaceId, { usedBytes: 1, version }, signal)).toBe(false)
        expect(await ledger.correct(workspaceId, { usedBytes: 1, version: undefined }, signal)).toBe(false)
        expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 700 })
      })

      it('makes the ledger of a workspace that has lost it', async () => {
        expect(await ledger.correct(workspaceId, { usedBytes: 700, version: 1 }, signal)).toBe(false)
        expect(await ledger.correct(workspaceId, { usedBytes: 700, version: undefined }, signal)).toBe(true)
        expect(await ledger.usage(workspaceId, signal)).toEqual({ quotaBytes: 1000, usedBytes: 700 })
      })
    })
  })
}
