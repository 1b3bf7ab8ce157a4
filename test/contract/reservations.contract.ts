import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { OpenReservation, Reservation, Reservations } from '../../lib/promotion/reservations.ts'
import { LEASE_END_MS, newRelease, newReservation, newWorkspaceId } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

export function describeReservations(name: string, make: () => Reservations): void {
  describe(`reservations: ${name}`, () => {
    let reservations: Reservations
    let workspaceId: WorkspaceId
    beforeEach(() => {
      reservations = make()
      workspaceId = newWorkspaceId()
    })

    const reservation = (change: Partial<Reservation> = {}) => newReservation({ workspaceId, ...change })
    const twinOf = ({ documentId }: Reservation) => reservation({ documentId })
    const open = async (one = reservation()) => {
      expect(await reservations.open(one, signal)).toEqual({ outcome: 'opened' })
      return one
    }
    const find = (one: Reservation) => reservations.find(one, signal)
    const list = async (of = workspaceId): Promise<OpenReservation[]> => {
      const all: OpenReservation[] = []
      for await (const each of reservations.list(of, signal)) all.push(each)
      return all
    }
    const expectAll = async (...expected: OpenReservation[]) => {
      const sorted = (all: OpenReservation[]) => all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const keyOf = ({ purpose, attemptId }: OpenReservation) => `${purpose} ${attemptId}`
      expect(sorted(await list())).toEqual(sorted(expected))
    }
    const asOpen = (one: Reservation): OpenReservation => ({ ...one, purpose: 'promotion', closedBy: undefined })
    const asFence = (one: Reservation): OpenReservation => ({ ...asOpen(one), sizeBytes: 0, purpose: 'fence' })
    const asWatch = (one: Reservation): OpenReservation => ({ ...asOpen(one), sizeBytes: 0, purpose: 'late_copy' })

    it('finds what was opened, field by field', async () => {
      const one = await open(reservation({ sizeBytes: 5 * 1024 ** 4, countedFrom: 1_795_330_458_777 }))
      expect(await find(one)).toEqual(asOpen(one))
    })

    it('finds nothing under an unknown id or in another workspace', async () => {
      const one = await open()
      expect(await find(reservation())).toBeUndefined()
      expect(await find({ ...one, workspaceId: newWorkspaceId() })).toBeUndefined()
    })

    it('lets twins meet: the second is told of the first, and changes nothing', async () => {
      const one = await open()
      const twin = twinOf(one)
      expect(await reservations.open(twin, signal)).toEqual({ outcome: 'in_progress', other: asOpen(one) })
      await reservations.remove(twin, signal)
      await expectAll(asOpen(one))
    })

    it('opens one of ten at once', async () => {
      const first = reservation()
      const twins = [first, ...Array.from({ length: 9 }, () => twinOf(first))]
      const outcomes = await Promise.all(twins.map((each) => reservations.open(each, signal)))
      const opened = twins.filter((_, index) => outcomes[index]?.outcome === 'opened')
      await expectAll(...opened.map(asOpen))
      expect(opened).toHaveLength(1)
    })

    it('removes what was opened, once or twice; then the next may open', async () => {
      const one = await open()
      for (let times = 0; times < 2; times++) {
        await reservations.remove(one, signal)
        await expectAll()
      }
      const twin = await open(twinOf(one))
      await reservations.remove(one, signal)
      await expectAll(asOpen(twin))
    })

    describe('forestall', () => {
      it('keeps an opening out that was never answered, and every twin', async () => {
        const one = reservation()
        expect(await reservations.forestall(one, signal)).toBe('forestalled')
        for (const late of [one, twinOf(one)]) {
          expect(await reservations.open(late, signal)).toEqual({ outcome: 'in_progress', other: asFence(one) })
        }
        expect(await find(one)).toEqual(asFence(one))
        await reservations.remove(one, signal)
        await open(twinOf(one))
      })

      it('finds that it was open all the time, and leaves it so', async () => {
        const one = await open()
        expect(await reservations.forestall(one, signal)).toBe('open')
        await expectAll(asOpen(one))
      })

      it('finds another attempt in its place, and leaves that alone', async () => {
        const one = await open()
        expect(await reservations.forestall(twinOf(one), signal)).toBe('occupied')
        await expectAll(asOpen(one))
        await reservations.remove(one, signal)
        await reservations.forestall(one, signal)
        expect(await reservations.forestall(twinOf(one), signal)).toBe('occupied')
      })
    })

    describe('close', () => {
      it('hands the bytes to one release, however often it asks, and to no other', async () => {
        const one = await open()
        const [first, second] = [newRelease(one, 'undo'), newRelease(one, 'undo')]
        const closed = { ...asOpen(one), closedBy: first.releaseId }
        expect(await reservations.close(first, signal)).toEqual(closed)
        expect(await reservations.close(second, signal)).toBeUndefined()
        expect(await reservations.close(first, signal)).toEqual(closed)
        await expectAll(closed)
      })

      it('hands them to one of ten at once', async () => {
        const one = await open()
        const releases = Array.from({ length: 10 }, () => newRelease(one, 'undo'))
        const closed = await Promise.all(releases.map((each) => reservations.close(each, signal)))
        const winner = releases[closed.findIndex((each) => each !== undefined)]
        expect(closed.filter((each) => each !== undefined)).toHaveLength(1)
        expect((await find(one))?.closedBy).toBe(winner?.releaseId)
      })

      it('closes nothing where nothing is, nor a fence, nor the reservation of another attempt', async () => {
        const [none, fenced, opened] = [reservation(), reservation(), await open()]
        await reservations.forestall(fenced, signal)
        for (const one of [none, fenced, twinOf(opened)]) {
          expect(await reservations.close(newRelease(one, 'undo'), signal)).toBeUndefined()
        }
        expect(await find(none)).toBeUndefined()
        expect(await find(fenced)).toEqual(asFence(fenced))
        expect(await find(opened)).toEqual(asOpen(opened))
      })

      it('stands in the way of the next attempt until it is removed', async () => {
        const one = await open()
        const release = newRelease(one, 'undo')
        await reservations.close(release, signal)
        const other = { ...asOpen(one), closedBy: release.releaseId }
        expect(await reservations.open(twinOf(one), signal)).toEqual({ outcome: 'in_progress', other })
        await reservations.remove(one, signal)
        await open(twinOf(one))
      })
    })

    describe('watch', () => {
      it('stands beside the reservation of the same attempt and of the next', async () => {
        const one = await open()
        await reservations.watch(one, signal)
        await expectAll(asOpen(one), asWatch(one))
        await reservations.remove(one, signal)
        const twin = await open(twinOf(one))
        await expectAll(asOpen(twin), asWatch(one))
        expect(await find(one)).toEqual(asOpen(twin))
      })

      it('is one for each attempt, with the lease it was last given', async () => {
        const one = reservation()
        const later = { ...one, leaseExpiresAtMs: LEASE_END_MS + 1 }
        for (const each of [one, later]) await reservations.watch(each, signal)
        const twin = twinOf(one)
        await reservations.watch(twin, signal)
        await expectAll(asWatch(later), asWatch(twin))
      })

      it('goes, once or twice, and leaves reservations and other watches alone', async () => {
        const one = await open()
        const twin = twinOf(one)
        for (const each of [one, twin]) await reservations.watch(each, signal)
        for (let times = 0; times < 2; times++) {
          await reservations.removeWatch(twin, signal)
          await expectAll(asOpen(one), asWatch(one))
        }
        await reservations.remove(one, signal)
        await expectAll(asWatch(one))
      })
    })

    it('lists all of one workspace', async () => {
      const opened = [await open(), await open(), await open()]
      const fenced = reservation()
      await reservations.forestall(fenced, signal)
      await open(newReservation({ workspaceId: newWorkspaceId() }))
      await expectAll(...opened.map(asOpen), asFence(fenced))
      expect(await list(newWorkspaceId())).toEqual([])
    })
  })
}
