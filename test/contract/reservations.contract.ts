import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { Attempt, Reservation, ReservationPurpose, Reservations } from '../../lib/ledger/ports/reservations.ts'
import { LEASE_END_MS, newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

export function describeReservations(name: string, make: () => Reservations): void {
  describe(`reservations: ${name}`, () => {
    let reservations: Reservations
    let workspaceId: WorkspaceId
    beforeEach(() => {
      reservations = make()
      workspaceId = newWorkspaceId()
    })

    const reservation = (change: Partial<Attempt> = {}) => newAttempt({ workspaceId, ...change })
    const twinOf = ({ documentId }: Attempt) => reservation({ documentId })
    const claim = (one: Attempt, dead?: Reservation) => reservations.claim(one, signal, dead)
    const claimed = async (one = reservation()) => {
      expect(await claim(one)).toBeUndefined()
      return one
    }
    const reserve = async (one = reservation(), isClaimed = false) => {
      expect(await reservations.reserve(one, isClaimed, signal)).toBe('reserved')
      return one
    }
    const fence = (one: Attempt, isClaimed = false) => reservations.fence(one, isClaimed, signal)
    const find = (one: Attempt) => reservations.find(one, signal)
    const list = async (of = workspaceId): Promise<Reservation[]> => {
      const all: Reservation[] = []
      for await (const each of reservations.list(of, signal)) all.push(each)
      return all
    }
    const expectAll = async (...expected: Reservation[]) => {
      const sorted = (all: Reservation[]) => all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const keyOf = ({ purpose, attemptId }: Reservation) => `${purpose} ${attemptId}`
      expect(sorted(await list())).toEqual(sorted(expected))
    }
    const asReserved = (one: Attempt): Reservation => ({ ...one, purpose: 'promotion', releasedBy: undefined })
    /** It holds no bytes. */
    const as = (purpose: ReservationPurpose, one: Attempt) => ({ ...asReserved(one), sizeBytes: 0, purpose })
    const asDeletion = (one: Attempt) => ({ ...asReserved(one), purpose: 'deletion' as const })

    it('finds what was reserved, field by field', async () => {
      const one = await reserve(reservation({ sizeBytes: 5 * 1024 ** 4, countedFrom: 1_795_330_458_777 }))
      expect(await find(one)).toEqual(asReserved(one))
    })

    it('removes what was reserved, once or twice; then the next may open', async () => {
      const one = await reserve()
      for (let times = 0; times < 2; times++) {
        await reservations.remove(one, signal)
        await expectAll()
      }
      const twin = await reserve(twinOf(one))
      await reservations.remove(one, signal)
      await expectAll(asReserved(twin))
    })

    describe('claim', () => {
      it('is had by the first; the second is told of it, and changes nothing', async () => {
        const one = await claimed()
        const twin = twinOf(one)
        expect(await claim(twin)).toEqual(as('claim', one))
        await reservations.remove(twin, signal)
        await expectAll(as('claim', one))
      })

      it('is had by one of ten at once', async () => {
        const first = reservation()
        const twins = [first, ...Array.from({ length: 9 }, () => twinOf(first))]
        const others = await Promise.all(twins.map((each) => claim(each)))
        const winners = twins.filter((_, index) => others[index] === undefined)
        await expectAll(...winners.map((each) => as('claim', each)))
        expect(winners).toHaveLength(1)
        const found = others.filter((other) => other !== undefined)
        expect(found).toEqual(Array(9).fill(as('claim', winners[0] as Attempt)))
      })

      it('is told of the reservation of a twin, its own one too, and leaves both', async () => {
        const one = await reserve(await claimed(), true)
        for (const each of [one, twinOf(one)]) expect(await claim(each)).toEqual(asReserved(one))
        await expectAll(asReserved(one))
      })

      it('takes the place of the dead claim that it names, and of no other', async () => {
        const [dead, next] = [reservation(), reservation()]
        const twin = twinOf(dead)
        await claimed(dead)
        expect(await claim(twin, as('claim', next))).toEqual(as('claim', dead))
        expect(await claim(twin, as('claim', dead))).toBeUndefined()
        await expectAll(as('claim', twin))
        expect(await reservations.reserve(dead, true, signal)).toBe('refused')
        expect(await claim(twinOf(dead), as('claim', dead))).toEqual(as('claim', twin))
        await reserve(twin, true)
      })

      it('does not take the place of a reservation, were it named, nor of a fenced one', async () => {
        const one = await reserve(await claimed(), true)
        expect(await claim(twinOf(one), as('claim', one))).toEqual(asReserved(one))
        const fenced = reservation()
        await fence(fenced)
        const other = as('fence', fenced)
        expect(await claim(twinOf(fenced), other)).toEqual(other)
        await expectAll(asReserved(one), other)
      })
    })

    describe('reserve', () => {
      it('finds that the own reservation is open, closed or not', async () => {
        for (const isClaimed of [false, true]) {
          const one = isClaimed ? await claimed() : reservation()
          for (let times = 0; times < 2; times++) await reserve(one, isClaimed)
          const release = newRelease(one, 'undo')
          await reservations.handOver(release, signal)
          await reserve(one, isClaimed)
          expect(await find(one)).toEqual({ ...asReserved(one), releasedBy: release.releaseId })
        }
      })

      it.each<[string, boolean, (one: Attempt) => Promise<unknown>]>([
        ['with a claim, where nothing is', true, async () => {}],
        ['with a claim, where a twin has its claim', true, (one) => claimed(twinOf(one))],
        ['with a claim, where a twin has its reservation', true, (one) => reserve(twinOf(one))],
        ['with a claim, where it was fenced', true, (one) => fence(one)],
        ['without one, where a claim is, were it its own', false, (one) => claimed(one)],
        ['without one, where a twin has its reservation', false, (one) => reserve(twinOf(one))],
        ['without one, where it was fenced', false, (one) => fence(one)],
      ])('refuses %s, and changes nothing', async (_, isClaimed, prepare) => {
        const one = reservation()
        await prepare(one)
        const before = await list()
        expect(await reservations.reserve(one, isClaimed, signal)).toBe('refused')
        await expectAll(...before)
      })

      it('reserves one of ten at once', async () => {
        const first = reservation()
        const twins = [first, ...Array.from({ length: 9 }, () => twinOf(first))]
        const outcomes = await Promise.all(twins.map((each) => reservations.reserve(each, false, signal)))
        const reserved = twins.filter((_, index) => outcomes[index] === 'reserved')
        await expectAll(...reserved.map(asReserved))
        expect(reserved).toHaveLength(1)
      })
    })

    describe('fence', () => {
      it('keeps an opening out that was never answered, and every twin', async () => {
        const one = reservation()
        for (let times = 0; times < 2; times++) expect(await fence(one)).toBe('fenced')
        for (const late of [one, twinOf(one)]) expect(await reservations.reserve(late, false, signal)).toBe('refused')
        await expectAll(as('fence', one))
        await reservations.remove(one, signal)
        await reserve(twinOf(one))
      })

      it('removes the claim, so that nothing can be reserved in its place; twins may come', async () => {
        const one = await claimed()
        for (let times = 0; times < 2; times++) expect(await fence(one, true)).toBe('fenced')
        await expectAll()
        expect(await reservations.reserve(one, true, signal)).toBe('refused')
        await claimed(twinOf(one))
      })

      it.each([false, true])(
        'finds that it was open all the time, and leaves it so; claimed: %s',
        async (isClaimed) => {
          const one = await reserve(isClaimed ? await claimed() : reservation(), isClaimed)
          expect(await fence(one, isClaimed)).toBe('reserved')
          await expectAll(asReserved(one))
        },
      )

      it.each([false, true])('leaves alone what a twin has in its place; claimed: %s', async (isClaimed) => {
        const [claims, reserves] = [await claimed(), await reserve()]
        for (const each of [claims, reserves]) expect(await fence(twinOf(each), isClaimed)).toBe('fenced')
        await expectAll(as('claim', claims), asReserved(reserves))
      })
    })

    describe('handOver', () => {
      it('hands the bytes to one release, and tells every other which one it is', async () => {
        const one = await reserve()
        const [first, second] = [newRelease(one, 'undo'), newRelease(one, 'undo')]
        for (const each of [first, second, first])
          expect(await reservations.handOver(each, signal)).toBe(first.releaseId)
        await expectAll({ ...asReserved(one), releasedBy: first.releaseId })
      })

      it('hands them to one of ten at once', async () => {
        const one = await reserve()
        const releases = Array.from({ length: 10 }, () => newRelease(one, 'undo'))
        const closed = await Promise.all(releases.map((each) => reservations.handOver(each, signal)))
        const releasedBy = (await find(one))?.releasedBy
        expect(releases.map(({ releaseId }) => releaseId)).toContain(releasedBy)
        expect(closed).toEqual(Array(10).fill(releasedBy))
      })

      it('closes nothing where nothing is, nor what holds no bytes, nor the reservation of another attempt', async () => {
        const [none, fenced, claims, reserved] = [reservation(), reservation(), await claimed(), await reserve()]
        await fence(fenced)
        for (const one of [none, fenced, claims, twinOf(reserved)]) {
          expect(await reservations.handOver(newRelease(one, 'undo'), signal)).toBeUndefined()
        }
        await expectAll(as('fence', fenced), as('claim', claims), asReserved(reserved))
      })

      it('stands in the way of the next attempt until it is removed', async () => {
        const one = await reserve()
        const { releaseId, ...release } = newRelease(one, 'undo')
        await reservations.handOver({ ...release, releaseId }, signal)
        expect(await reservations.reserve(twinOf(one), false, signal)).toBe('refused')
        expect(await claim(twinOf(one))).toEqual({ ...asReserved(one), releasedBy: releaseId })
        await reservations.remove(one, signal)
        await reserve(twinOf(one))
      })
    })

    describe('note', () => {
      it.each(['late_copy', 'deletion'] as const)(
        'of a %s stands beside the reservation of the same attempt and of the next',
        async (note) => {
          const one = await reserve(reservation({ countedFrom: 7 }))
          await reservations.note(note, one, signal)
          const noted = note === 'deletion' ? asDeletion(one) : as(note, one)
          await expectAll(asReserved(one), noted)
          await reservations.remove(one, signal)
          const twin = await reserve(twinOf(one))
          await expectAll(asReserved(twin), noted)
          expect(await find(one)).toEqual(asReserved(twin))
        },
      )

      it('is one of each kind for each attempt, with the lease it was last given', async () => {
        const one = reservation()
        const later = { ...one, leaseExpiresAtMs: LEASE_END_MS + 1 }
        for (const each of [one, later]) await reservations.note('late_copy', each, signal)
        await reservations.note('deletion', one, signal)
        const twin = twinOf(one)
        await reservations.note('late_copy', twin, signal)
        await expectAll(as('late_copy', later), asDeletion(one), as('late_copy', twin))
      })

      it('goes, once or twice, and leaves reservations and other notes alone', async () => {
        const one = await reserve()
        const twin = twinOf(one)
        for (const each of [one, twin]) await reservations.note('late_copy', each, signal)
        await reservations.note('deletion', twin, signal)
        for (let times = 0; times < 2; times++) {
          await reservations.removeNote('late_copy', twin, signal)
          await expectAll(asReserved(one), as('late_copy', one), asDeletion(twin))
        }
        await reservations.remove(one, signal)
        await reservations.removeNote('deletion', twin, signal)
        await expectAll(as('late_copy', one))
      })
    })

    it('lists all of one workspace', async () => {
      const reserved = [await reserve(), await reserve(), await reserve()]
      const [fenced, claims] = [reservation(), await claimed()]
      await fence(fenced)
      await reserve(newAttempt({ workspaceId: newWorkspaceId() }))
      await expectAll(...reserved.map(asReserved), as('fence', fenced), as('claim', claims))
      expect(await list(newWorkspaceId())).toEqual([])
    })
  })
}
