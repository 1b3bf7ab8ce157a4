import type { TableWorkspaces } from '../../lib/maintenance/table-workspaces.ts'
import type {
  Note,
  OpenReservation,
  Reservation,
  ReservationPurpose,
  Reservations,
} from '../../lib/promotion/reservations.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

export interface FakeReservations extends Reservations, TableWorkspaces {
  /** By workspace and reservation id. */
  items: Map<string, OpenReservation>
}

export function createFakeReservations(): FakeReservations {
  const items: FakeReservations['items'] = new Map()
  const keyOf = ({ workspaceId, documentId }: Pick<Reservation, 'workspaceId' | 'documentId'>) =>
    `${workspaceId}/${documentId}`
  const noteKeyOf = (note: Note, { workspaceId, attemptId }: Pick<Reservation, 'workspaceId' | 'attemptId'>) =>
    `${workspaceId}/${note}_${attemptId}`
  const item = (reservation: Reservation, purpose: ReservationPurpose): OpenReservation => {
    const { workspaceId, documentId, attemptId, objectKey, leaseExpiresAtMs } = reservation
    const sizeBytes = purpose === 'promotion' || purpose === 'deletion' ? reservation.sizeBytes : 0
    const counted = reservation.countedFrom === undefined ? {} : { countedFrom: reservation.countedFrom }
    const ids = { workspaceId, documentId, attemptId, objectKey }
    return { ...ids, sizeBytes, leaseExpiresAtMs, purpose, closedBy: undefined, ...counted }
  }
  const ownOf = (reservation: Reservation) => {
    const existing = items.get(keyOf(reservation))
    return existing?.attemptId === reservation.attemptId ? existing : undefined
  }
  return {
    ...createFakeTableWorkspaces(() => [...items.values()].map(({ workspaceId }) => workspaceId)),
    items,
    async claim(reservation, _signal, dead) {
      const other = items.get(keyOf(reservation))
      const isReplaced = other?.purpose === 'claim' && other.attemptId === dead?.attemptId
      if (other && !isReplaced) return other
      items.set(keyOf(reservation), item(reservation, 'claim'))
      return undefined
    },
    async open(reservation, isClaimed) {
      const own = ownOf(reservation)
      if (own?.purpose === 'promotion') return 'opened'
      const mayOpen = isClaimed ? own?.purpose === 'claim' : !items.has(keyOf(reservation))
      if (!mayOpen) return 'refused'
      items.set(keyOf(reservation), item(reservation, 'promotion'))
      return 'opened'
    },
    find: async (document) => items.get(keyOf(document)),
    async forestall(reservation, isClaimed) {
      const own = ownOf(reservation)
      if (own?.purpose === 'promotion') return 'open'
      if (isClaimed && own?.purpose === 'claim') items.delete(keyOf(reservation))
      if (!isClaimed && !items.has(keyOf(reservation))) items.set(keyOf(reservation), item(reservation, 'forestalled'))
      return 'forestalled'
    },
    async close(release) {
      const reservation = items.get(keyOf(release))
      if (reservation?.attemptId !== release.attemptId || reservation.purpose !== 'promotion') return undefined
      const closed = { ...reservation, closedBy: reservation.closedBy ?? release.releaseId }
      items.set(keyOf(release), closed)
      return closed.closedBy
    },
    async remove(reservation) {
      if (items.get(keyOf(reservation))?.attemptId === reservation.attemptId) items.delete(keyOf(reservation))
    },
    async note(note, reservation) {
      items.set(noteKeyOf(note, reservation), item(reservation, note))
    },
    async removeNote(note, reservation) {
      const key = noteKeyOf(note, reservation)
      if (items.get(key)?.leaseExpiresAtMs === reservation.leaseExpiresAtMs) items.delete(key)
    },
    async *list(workspaceId) {
      yield* [...items.values()].filter((reservation) => reservation.workspaceId === workspaceId)
    },
  }
}
