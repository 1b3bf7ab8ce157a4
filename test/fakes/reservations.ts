import type { TableWorkspaces } from '../../lib/maintenance/table-workspaces.ts'
import type {
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
  const watchKeyOf = ({ workspaceId, attemptId }: Reservation) => `${workspaceId}/late_copy_${attemptId}`
  const item = (reservation: Reservation, purpose: ReservationPurpose): OpenReservation => {
    const { workspaceId, documentId, attemptId, objectKey, leaseExpiresAtMs } = reservation
    const sizeBytes = purpose === 'promotion' ? reservation.sizeBytes : 0
    const counted = reservation.countedFrom === undefined ? {} : { countedFrom: reservation.countedFrom }
    const ids = { workspaceId, documentId, attemptId, objectKey }
    return { ...ids, sizeBytes, leaseExpiresAtMs, purpose, closedBy: undefined, ...counted }
  }
  return {
    ...createFakeTableWorkspaces(() => [...items.values()].map(({ workspaceId }) => workspaceId)),
    items,
    async open(reservation) {
      const other = items.get(keyOf(reservation))
      if (other) return { outcome: 'in_progress', other }
      items.set(keyOf(reservation), item(reservation, 'promotion'))
      return { outcome: 'opened' }
    },
    find: async (document) => items.get(keyOf(document)),
    async forestall(reservation) {
      const existing = items.get(keyOf(reservation))
      if (existing) return existing.attemptId === reservation.attemptId ? 'open' : 'occupied'
      items.set(keyOf(reservation), item(reservation, 'fence'))
      return 'forestalled'
    },
    async close(release) {
      const reservation = items.get(keyOf(release))
      const isOurs = reservation?.attemptId === release.attemptId && reservation.purpose === 'promotion'
      if (!reservation || !isOurs || (reservation.closedBy ?? release.releaseId) !== release.releaseId) return undefined
      const closed = { ...reservation, closedBy: release.releaseId }
      items.set(keyOf(release), closed)
      return closed
    },
    async remove(reservation) {
      if (items.get(keyOf(reservation))?.attemptId === reservation.attemptId) items.delete(keyOf(reservation))
    },
    async watch(reservation) {
      items.set(watchKeyOf(reservation), item(reservation, 'late_copy'))
    },
    async removeWatch(reservation) {
      items.delete(watchKeyOf(reservation))
    },
    async *list(workspaceId) {
      yield* [...items.values()].filter((reservation) => reservation.workspaceId === workspaceId)
    },
  }
}
