import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { Attempt, ReservationItem, Reservations } from '../../lib/ledger/ports/reservations.ts'
import { LEASE_END_MS, newAttempt, newRelease, newWorkspaceId } from '../support/stores/ledger-values.ts'

const { signal } = new AbortController()

/** What an attempt may find in the place of its document, of its own or of a twin, and who puts it there. */
const PLACES = [
  'nothing',
  'its claim',
  'its reservation',
  'its reservation, handed over',
  'its fence',
  "a twin's claim",
  "a twin's reservation",
  "a twin's reservation, handed over",
  "a twin's fence",
] as const

/** What each call does at these places, in their order. A word in capitals changes what is there. */
const OUTCOMES = {
  claim: 'CLAIMED told told told told told told told told',
  'claim in the place of what is there': 'CLAIMED CLAIMED told told told CLAIMED told told told',
  'claim in the place of another': 'CLAIMED told told told told told told told told',
  reserve: 'RESERVED refused reserved reserved refused refused refused refused refused',
  'reserve its claim': 'refused RESERVED reserved reserved refused refused refused refused refused',
  fence: 'FENCED fenced reserved reserved fenced fenced fenced fenced fenced',
  'fence its claim': 'fenced UNCLAIMED reserved reserved fenced fenced fenced fenced fenced',
  'hand over': 'ignored ignored HANDED_OVER told_of_release ignored ignored ignored ignored ignored',
  remove: 'ignored REMOVED REMOVED REMOVED REMOVED ignored ignored ignored ignored',
}
const CASES = Object.entries(OUTCOMES).flatMap(([call, outcomes]) =>
  PLACES.map((place, index) => [call as keyof typeof OUTCOMES, place, outcomes.split(' ')[index] ?? ''] as const),
)

const as = (purpose: ReservationItem['purpose'], one: Attempt): ReservationItem => {
  const holdsBytes = purpose === 'promotion' || purpose === 'deletion'
  return { ...one, sizeBytes: holdsBytes ? one.sizeBytes : 0, purpose, releasedBy: undefined }
}

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
    const reserve = async (one = reservation()) => {
      expect(await reservations.reserve(one, false, signal)).toBe('reserved')
      return one
    }
    const find = (one: Attempt) => reservations.find(one, signal)
    const list = (of = workspaceId) => Array.fromAsync(reservations.list(of, signal))
    const expectAll = async (...expected: ReservationItem[]) => {
      const all = await list()
      expect(all).toHaveLength(expected.length)
      expect(all).toEqual(expect.arrayContaining(expected))
    }
    const put = async (place: (typeof PLACES)[number], own: Attempt) => {
      const one = place.startsWith('its') ? own : twinOf(own)
      if (place.includes('claim')) await reservations.claim(one, signal)
      if (place.includes('fence')) await reservations.fence(one, false, signal)
      if (place.includes('reservation')) await reserve(one)
      if (place.includes('handed over')) await reservations.handOver(newRelease(one, 'undo'), signal)
      return find(own)
    }

    it.each(CASES)('%s, where %s is: %s', async (call, place, outcome) => {
      const own = reservation({ sizeBytes: 5 * 1024 ** 4, countedFrom: 1_795_330_458_777 })
      const before = await put(place, own)
      const release = newRelease(own, 'undo')
      const calls: Record<typeof call, () => Promise<unknown>> = {
        claim: () => reservations.claim(own, signal),
        'claim in the place of what is there': () => reservations.claim(own, signal, before ?? twinOf(own)),
        'claim in the place of another': () => reservations.claim(own, signal, twinOf(own)),
        reserve: () => reservations.reserve(own, false, signal),
        'reserve its claim': () => reservations.reserve(own, true, signal),
        fence: () => reservations.fence(own, false, signal),
        'fence its claim': () => reservations.fence(own, true, signal),
        'hand over': () => reservations.handOver(release, signal),
        remove: () => reservations.remove(own, signal),
      }
      const effects: Record<string, [answer: unknown, after: ReservationItem | undefined]> = {
        CLAIMED: [undefined, as('claim', own)],
        told: [before, before],
        RESERVED: ['reserved', as('promotion', own)],
        reserved: ['reserved', before],
        refused: ['fenced', before],
        FENCED: ['fenced', as('fence', own)],
        UNCLAIMED: ['fenced', undefined],
        fenced: ['fenced', before],
        HANDED_OVER: [release.releaseId, { ...as('promotion', own), releasedBy: release.releaseId }],
        told_of_release: [before?.releasedBy, before],
        REMOVED: [undefined, undefined],
        ignored: [undefined, before],
      }
      const [answer, after] = effects[outcome] ?? []
      expect([await calls[call](), await find(own)]).toEqual([answer, after])
      await expectAll(...(after ? [after] : []))
      // A repeated claim is told of itself; all else may be repeated.
      if (outcome !== 'CLAIMED') expect([await calls[call](), await find(own)]).toEqual([answer, after])
    })

    it.each<[string, (one: Attempt) => Promise<boolean>]>([
      ['claims', async (one) => (await reservations.claim(one, signal)) === undefined],
      ['reserves', async (one) => (await reservations.reserve(one, false, signal)) === 'reserved'],
    ])('%s for one of ten at once', async (_, call) => {
      const first = reservation()
      const twins = [first, ...Array.from({ length: 9 }, () => twinOf(first))]
      const outcomes = await Promise.all(twins.map(call))
      const winners = twins.filter((_, index) => outcomes[index])
      expect((await list()).map(({ attemptId }) => attemptId)).toEqual(winners.map(({ attemptId }) => attemptId))
      expect(winners).toHaveLength(1)
    })

    it('hands the bytes over to one release of ten at once', async () => {
      const one = await reserve()
      const releases = Array.from({ length: 10 }, () => newRelease(one, 'undo'))
      const owners = await Promise.all(releases.map((each) => reservations.handOver(each, signal)))
      const releasedBy = (await find(one))?.releasedBy
      expect(releases.map(({ releaseId }) => releaseId)).toContain(releasedBy)
      expect(owners).toEqual(Array(10).fill(releasedBy))
    })

    describe('note', () => {
      it.each(['late_copy', 'deletion'] as const)(
        'of a %s stands beside the reservation of the same attempt and of the next',
        async (note) => {
          const one = await reserve(reservation({ countedFrom: 7 }))
          await reservations.note(note, one, signal)
          await expectAll(as('promotion', one), as(note, one))
          await reservations.remove(one, signal)
          const twin = await reserve(twinOf(one))
          await expectAll(as('promotion', twin), as(note, one))
        },
      )

      it('is one of each kind for each attempt, with the lease it was last given', async () => {
        const one = reservation()
        const later = { ...one, leaseExpiresAtMs: LEASE_END_MS + 1 }
        const twin = twinOf(one)
        for (const each of [one, later, twin]) await reservations.note('late_copy', each, signal)
        await reservations.note('deletion', one, signal)
        await expectAll(as('late_copy', later), as('deletion', one), as('late_copy', twin))
      })

      it('goes, once or twice, and leaves reservations, other notes and one of another lease alone', async () => {
        const one = await reserve()
        const twin = twinOf(one)
        for (const each of [one, twin]) await reservations.note('late_copy', each, signal)
        await reservations.note('deletion', twin, signal)
        for (let times = 0; times < 2; times++) {
          await reservations.removeNote('late_copy', twin, signal)
          await reservations.removeNote('late_copy', { ...one, leaseExpiresAtMs: 1 }, signal)
          await expectAll(as('promotion', one), as('late_copy', one), as('deletion', twin))
        }
        await reservations.removeNote('deletion', twin, signal)
        await expectAll(as('promotion', one), as('late_copy', one))
      })
    })

    it('lists all of one workspace', async () => {
      const reserved = [await reserve(), await reserve(), await reserve()]
      const [fenced, claimed] = [reservation(), reservation()]
      await reservations.fence(fenced, false, signal)
      await reservations.claim(claimed, signal)
      await reserve(newAttempt({ workspaceId: newWorkspaceId() }))
      const promotions = reserved.map((each) => as('promotion', each))
      await expectAll(...promotions, as('fence', fenced), as('claim', claimed))
      expect(await list(newWorkspaceId())).toEqual([])
    })
  })
}
