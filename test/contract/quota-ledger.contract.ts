import { beforeEach, describe, expect, it } from 'vitest'
import { newAttemptId, newDocumentId, type WorkspaceId } from '../../lib/promotion/ids.ts'
import type { QuotaLedger, Reservation } from '../../lib/promotion/ports.ts'

export const LEDGER_LIMITS = { defaultQuotaBytes: 1000, maxReservations: 3 }
const signal = AbortSignal.timeout(60_000)

export function describeQuotaLedger(name: string, make: () => QuotaLedger): void {
  describe(`quota ledger: ${name}`, () => {
    let ledger: QuotaLedger
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
      })
    })

    it('reserves up to the last byte and not one more', async () => {
      await ledger.reserve(reservation(400), signal)
      const full = { quotaBytes: 1000, usedBytes: 1000 }
      expect(await ledger.reserve(reservation(601), signal)).toMatchObject({
        outcome: 'quota_exceeded',
        usage: { quotaBytes: 1000, usedBytes: 400 },
      })
      expect(await ledger.reserve(reservation(600), signal)).toEqual({ outcome: 'reserved', usage: full })
      expect(await ledger.reserve(reservation(1), signal)).toMatchObject({ outcome: 'quota_exceeded', usage: full })
      expect(await ledger.reserve(reservation(0), signal)).toEqual({ outcome: 'reserved', usage: full })
    })

    it('takes a repeated reserve for the same one', async () => {
      const one = reservation(700)
      await ledger.reserve(one, signal)
      expect(await ledger.reserve(one, signal)).toEqual({
        outcome: 'reserved',
        usage: { quotaBytes: 1000, usedBytes: 700 },
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
  })
}
