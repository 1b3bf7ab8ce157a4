import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type {
  OpenReservation,
  Reservation,
  ReservationPurpose,
  Reservations,
} from '../../lib/promotion/reservations.ts'
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
    const claim = (one: Reservation, dead?: OpenReservation) => reservations.claim(one, signal, dead)
    const claimed = async (one = reservation()) => {
      expect(await claim(one)).toBeUndefined()
      return one
    }
    const open = async (one = reservation(), isClaimed = false) => {
      expect(await reservations.open(one, isClaimed, signal)).toBe('opened')
      return one
    }
    const forestall = (one: Reservation, isClaimed = false) => reservations.forestall(one, isClaimed, signal)
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
    /** It holds no bytes. */
    const as = (purpose: ReservationPurpose, one: Reservation) => ({ ...asOpen(one), sizeBytes: 0, purpose })
    const asDeletion = (one: Reservation) => ({ ...asOpen(one), purpose: 'deletion' as const })

    it('finds what was opened, field by field', async () => {
      const one = await open(reservation({ sizeBytes: 5 * 1024 ** 4, countedFrom: 1_795_330_458_777 }))
      expect(await find(one)).toEqual(asOpen(one))
    })

    it('finds nothing under an unknown id or in another workspace', async () => {
      const one = await open()
      expect(await find(reservation())).toBeUndefined()
      expect(await find({ ...one, workspaceId: newWorkspaceId() })).toBeUndefined()
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
        expect(found).toEqual(Array(9).fill(as('claim', winners[0] as Reservation)))
      })

      it('is told of the reservation of a twin, its own one too, and leaves both', async () => {
        const one = await open(await claimed(), true)
        for (const each of [one, twinOf(one)]) expect(await claim(each)).toEqual(asOpen(one))
        await expectAll(asOpen(one))
      })

      it('takes the place of the dead claim that it names, and of no other', async () => {
        const [dead, next] = [reservation(), reservation()]
        const twin = twinOf(dead)
        await claimed(dead)
        expect(await claim(twin, as('claim', next))).toEqual(as('claim', dead))
        expect(await claim(twin, as('claim', dead))).toBeUndefined()
        await expectAll(as('claim', twin))
        expect(await reservations.open(dead, true, signal)).toBe('refused')
        expect(await claim(twinOf(dead), as('claim', dead))).toEqual(as('claim', twin))
        await open(twin, true)
      })

      it('does not take the place of a reservation, were it named, nor of a forestalled one', async () => {
        const one = await open(await claimed(), true)
        expect(await claim(twinOf(one), as('claim', one))).toEqual(asOpen(one))
        const forestalled = reservation()
        await forestall(forestalled)
        const other = as('forestalled', forestalled)
        expect(await claim(twinOf(forestalled), other)).toEqual(other)
        await expectAll(asOpen(one), other)
      })

      it('is free again once it was removed', async () => {
        const one = await claimed()
        await reservations.remove(one, signal)
        await claimed(twinOf(one))
      })
    })

    describe('open', () => {
      it('opens where nothing is, and in the place of the own claim', async () => {
        const [one, other] = [await open(), await open(await claimed(), true)]
        await expectAll(asOpen(one), asOpen(other))
      })

      it('finds that the own reservation is open, closed or not', async () => {
        for (const isClaimed of [false, true]) {
          const one = isClaimed ? await claimed() : reservation()
          for (let times = 0; times < 2; times++) await open(one, isClaimed)
          const release = newRelease(one, 'undo')
          await reservations.close(release, signal)
          await open(one, isClaimed)
          expect(await find(one)).toEqual({ ...asOpen(one), closedBy: release.releaseId })
        }
      })

      it.each<[string, boolean, (one: Reservation) => Promise<unknown>]>([
        ['with a claim, where nothing is', true, async () => {}],
        ['with a claim, where a twin has its claim', true, (one) => claimed(twinOf(one))],
        ['with a claim, where a twin has its reservation', true, (one) => open(twinOf(one))],
        ['with a claim, where it was forestalled', true, (one) => forestall(one)],
        ['without one, where a claim is, were it its own', false, (one) => claimed(one)],
        ['without one, where a twin has its reservation', false, (one) => open(twinOf(one))],
        ['without one, where it was forestalled', false, (one) => forestall(one)],
      ])('refuses %s, and changes nothing', async (_, isClaimed, prepare) => {
        const one = reservation()
        await prepare(one)
        const before = await list()
        expect(await reservations.open(one, isClaimed, signal)).toBe('refused')
        await expectAll(...before)
      })

      it('opens one of ten at once', async () => {
        const first = reservation()
        const twins = [first, ...Array.from({ length: 9 }, () => twinOf(first))]
        const outcomes = await Promise.all(twins.map((each) => reservations.open(each, false, signal)))
        const opened = twins.filter((_, index) => outcomes[index] === 'opened')
        await expectAll(...opened.map(asOpen))
        expect(opened).toHaveLength(1)
      })
    })

    describe('forestall', () => {
      it('keeps an opening out that was never answered, and every twin', async () => {
        const one = reservation()
        for (let times = 0; times < 2; times++) expect(await forestall(one)).toBe('forestalled')
        for (const late of [one, twinOf(one)]) expect(await reservations.open(late, false, signal)).toBe('refused')
        await expectAll(as('forestalled', one))
        await reservations.remove(one, signal)
        await open(twinOf(one))
      })

      it('removes the claim, so that nothing can be opened in its place; twins may come', async () => {
        const one = await claimed()
        for (let times = 0; times < 2; times++) expect(await forestall(one, true)).toBe('forestalled')
        await expectAll()
        expect(await reservations.open(one, true, signal)).toBe('refused')
        await claimed(twinOf(one))
      })

      it.each([false, true])(
        'finds that it was open all the time, and leaves it so; claimed: %s',
        async (isClaimed) => {
          const one = await open(isClaimed ? await claimed() : reservation(), isClaimed)
          expect(await forestall(one, isClaimed)).toBe('open')
          await expectAll(asOpen(one))
        },
      )

      it.each([false, true])('leaves alone what a twin has in its place; claimed: %s', async (isClaimed) => {
        const [claims, opens] = [await claimed(), await open()]
        for (const each of [claims, opens]) expect(await forestall(twinOf(each), isClaimed)).toBe('forestalled')
        await expectAll(as('claim', claims), asOpen(opens))
      })
    })

    describe('close', () => {
      it('hands the bytes to one release, and tells every other which one it is', async () => {
        const one = await open()
        const [first, second] = [newRelease(one, 'undo'), newRelease(one, 'undo')]
        for (const each of [first, second, first]) expect(await reservations.close(each, signal)).toBe(first.releaseId)
        await expectAll({ ...asOpen(one), closedBy: first.releaseId })
      })

      it('hands them to one of ten at once', async () => {
        const one = await open()
        const releases = Array.from({ length: 10 }, () => newRelease(one, 'undo'))
        const closed = await Promise.all(releases.map((each) => reservations.close(each, signal)))
        const closedBy = (await find(one))?.closedBy
        expect(releases.map(({ releaseId }) => releaseId)).toContain(closedBy)
        expect(closed).toEqual(Array(10).fill(closedBy))
      })

      it('closes nothing where nothing is, nor what holds no bytes, nor the reservation of another attempt', async () => {
        const [none, forestalled, claims, opened] = [reservation(), reservation(), await claimed(), await open()]
        await forestall(forestalled)
        for (const one of [none, forestalled, claims, twinOf(opened)]) {
          expect(await reservations.close(newRelease(one, 'undo'), signal)).toBeUndefined()
        }
        await expectAll(as('forestalled', forestalled), as('claim', claims), asOpen(opened))
      })

      it('stands in the way of the next attempt until it is removed', async () => {
        const one = await open()
        const { releaseId, ...release } = newRelease(one, 'undo')
        await reservations.close({ ...release, releaseId }, signal)
        expect(await reservations.open(twinOf(one), false, signal)).toBe('refused')
        expect(await claim(twinOf(one))).toEqual({ ...asOpen(one), closedBy: releaseId })
        await reservations.remove(one, signal)
        await open(twinOf(one))
      })
    })

    describe('note', () => {
      it.each(['late_copy', 'deletion'] as const)(
        'of a %s stands beside the reservation of the same attempt and of the next',
        async (note) => {
          const one = await open(reservation({ countedFrom: 7 }))
          await reservations.note(note, one, signal)
          const noted = note === 'deletion' ? asDeletion(one) : as(note, one)
          await expectAll(asOpen(one), noted)
          await reservations.remove(one, signal)
          const twin = await open(twinOf(one))
          await expectAll(asOpen(twin), noted)
          expect(await find(one)).toEqual(asOpen(twin))
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
        const one = await open()
        const twin = twinOf(one)
        for (const each of [one, twin]) await reservations.note('late_copy', each, signal)
        await reservations.note('deletion', twin, signal)
        for (let times = 0; times < 2; times++) {
          await reservations.removeNote('late_copy', twin, signal)
          await expectAll(asOpen(one), as('late_copy', one), asDeletion(twin))
        }
        await reservations.remove(one, signal)
        await reservations.removeNote('deletion', twin, signal)
        await expectAll(as('late_copy', one))
      })
    })

    it('lists all of one workspace', async () => {
      const opened = [await open(), await open(), await open()]
      const [forestalled, claims] = [reservation(), await claimed()]
      await forestall(forestalled)
      await open(newReservation({ workspaceId: newWorkspaceId() }))
      await expectAll(...opened.map(asOpen), as('forestalled', forestalled), as('claim', claims))
      expect(await list(newWorkspaceId())).toEqual([])
    })
  })
}
