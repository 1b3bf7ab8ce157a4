import { NO_ROW } from './empty-world.ts'
import { PREDICATES } from './predicates.ts'
import { entry, NO_WATCH, placeOf, WATCHED } from './world.ts'
import type { Write } from './writes.ts'

/** Writes of the reservations: rows. */
export function reservationWrites() {
  return {
    open: {
      sent: 'once',
      where: [['IS_FREE_ROW']],
      effect: (world, { attempt }) => {
        placeOf(world, attempt).row.attempt = attempt
      },
      applied: 'done',
      refused: 'inProgress',
    },
    /** Puts a fence where an opening of unknown outcome would go. */
    forestall: {
      sent: 'once',
      where: [['IS_FREE_ROW']],
      effect: (world, { attempt }) => {
        Object.assign(placeOf(world, attempt).row, { attempt, isFence: true })
      },
      applied: 'forestalled',
      refused: (world, call) => (PREDICATES.IS_OWN_ROW(world, call) ? 'open' : 'occupied'),
    },
    close: {
      sent: 'repeatedly',
      where: [['IS_OWN_ROW', 'IS_PROMOTION', 'IS_OPEN']],
      effect: (world, { attempt, release }) => {
        placeOf(world, attempt).row.closedBy = release
      },
      applied: 'closed',
      refused: 'absent',
    },
    remove: {
      sent: 'repeatedly',
      where: [['IS_OWN_ROW']],
      effect: (world, { attempt }) => {
        Object.assign(placeOf(world, attempt).row, NO_ROW)
      },
      applied: 'done',
      refused: 'done',
    },
    watch: {
      sent: 'repeatedly',
      where: [[]],
      effect: (world, { attempt }) => {
        entry(world.attempts, attempt).watch = WATCHED
      },
      applied: 'done',
      refused: 'done',
    },
    /** Its row bears the attempt in its key. */
    removeWatch: {
      sent: 'repeatedly',
      where: [[]],
      effect: (world, { attempt }) => {
        entry(world.attempts, attempt).watch = NO_WATCH
      },
      applied: 'done',
      refused: 'done',
    },
  } satisfies Record<string, Write>
}
