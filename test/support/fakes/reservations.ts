import type { TableWorkspaces } from '../../../lib/audit/ports/table-workspaces.ts'
import type {
  Attempt,
  Note,
  ReservationItem,
  ReservationPurpose,
  Reservations,
} from '../../../lib/ledger/ports/reservations.ts'
import { createFakeTableWorkspaces } from './table-workspaces.ts'

interface FakeReservations extends Reservations, TableWorkspaces {
  /** By workspace and reservation id. */
  items: Map<string, ReservationItem>
}

export function createFakeReservations(): FakeReservations {
  const items: FakeReservations['items'] = new Map()
  const keyOf = ({ workspaceId, documentId }: Pick<Attempt, 'workspaceId' | 'documentId'>) =>
    `${workspaceId}/${documentId}`
  const noteKeyOf = (note: Note, { workspaceId, attemptId }: Pick<Attempt, 'workspaceId' | 'attemptId'>) =>
    `${workspaceId}/${note}_${attemptId}`
  const item = (reservation: Attempt, purpose: ReservationPurpose): ReservationItem => {
    const { workspaceId, documentId, attemptId, objectKey, leaseExpiresAtMs } = reservation
    const sizeBytes = purpose === 'promotion' || purpose === 'deletion' ? reservation.sizeBytes : 0
    const counted = reservation.countedFrom === undefined ? {} : { countedFrom: reservation.countedFrom }
    const ids = { workspaceId, documentId, attemptId, objectKey }
    return { ...ids, sizeBytes, leaseExpiresAtMs, purpose, releasedBy: undefined, ...counted }
  }
  const ownOf = (reservation: Attempt) => {
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
    async reserve(reservation, isClaimed) {
      const own = ownOf(reservation)
      if (own?.purpose === 'promotion') return 'reserved'
      const mayReserve = isClaimed ? own?.purpose === 'claim' : !items.has(keyOf(reservation))
      if (!mayReserve) return 'fenced'
      items.set(keyOf(reservation), item(reservation, 'promotion'))
      return 'reserved'
    },
    find: async (document) => items.get(keyOf(document)),
    async fence(reservation, isClaimed) {
      const own = ownOf(reservation)
      if (own?.purpose === 'promotion') return 'reserved'
      if (isClaimed && own?.purpose === 'claim') items.delete(keyOf(reservation))
      if (!isClaimed && !items.has(keyOf(reservation))) items.set(keyOf(reservation), item(reservation, 'fence'))
      return 'fenced'
    },
    async handOver(release) {
      const reservation = items.get(keyOf(release))
      if (reservation?.attemptId !== release.attemptId || reservation.purpose !== 'promotion') return undefined
      const closed = { ...reservation, releasedBy: reservation.releasedBy ?? release.releaseId }
      items.set(keyOf(release), closed)
      return closed.releasedBy
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
