import { NO_ROW } from './empty-world.ts'
import { PREDICATES } from './predicates.ts'
import { promotionOf } from './promotion.ts'
import { type Call, CLAIM, entry, FORESTALLED, NO_NOTE, NOTED, PROMOTION, placeOf, type World } from './world.ts'
import type { Write } from './writes.ts'

const rowOf = (world: World, { attempt }: Call) => placeOf(world, attempt).row

const isOpen = (world: World, call: Call): boolean =>
  PREDICATES.IS_OWN_ROW(world, call) && PREDICATES.IS_PROMOTION(world, call)

const forestalled = (world: World, call: Call): string => (isOpen(world, call) ? 'open' : 'forestalled')

function removeRow(world: World, call: Call): void {
  Object.assign(rowOf(world, call), NO_ROW)
}

const note = (which: 'lateCopy' | 'deletion', value: typeof NOTED | typeof NO_NOTE): Write => ({
  sent: 'repeatedly',
  where: [[]],
  effect: (world, { attempt }) => {
    entry(world.attempts, attempt)[which] = value
  },
  applied: 'done',
  refused: 'done',
})

/** Writes of the reservations: rows, and the notes beside them, whose keys bear the attempt. */
export function reservationWrites() {
  return {
    /** About the dead attempt whose claim it replaces, if there is one. */
    claim: {
      sent: 'once',
      where: [['IS_FREE_ROW'], ['IS_DEAD_ROW', 'IS_CLAIM']],
      effect: (world, call) => {
        const { attempt } = promotionOf(world, call.sender)
        Object.assign(rowOf(world, call), { ...NO_ROW, attempt, purpose: CLAIM })
      },
      applied: 'done',
      refused: 'inTheWay',
    },
    open: {
      sent: 'once',
      where: [['IS_FREE_ROW']],
      effect: (world, call) => {
        Object.assign(rowOf(world, call), { attempt: call.attempt, purpose: PROMOTION })
      },
      applied: 'done',
      refused: (world, call) => (isOpen(world, call) ? 'done' : 'refused'),
    },
    openClaimed: {
      sent: 'once',
      where: [['IS_OWN_ROW', 'IS_CLAIM']],
      effect: (world, call) => {
        rowOf(world, call).purpose = PROMOTION
      },
      applied: 'done',
      refused: (world, call) => (isOpen(world, call) ? 'done' : 'refused'),
    },
    forestall: {
      sent: 'repeatedly',
      where: [['IS_FREE_ROW']],
      effect: (world, call) => {
        Object.assign(rowOf(world, call), { attempt: call.attempt, purpose: FORESTALLED })
      },
      applied: 'forestalled',
      refused: forestalled,
    },
    removeClaim: {
      sent: 'repeatedly',
      where: [['IS_OWN_ROW', 'IS_CLAIM']],
      effect: removeRow,
      applied: 'forestalled',
      refused: forestalled,
    },
    close: {
      sent: 'repeatedly',
      where: [['IS_OWN_ROW', 'IS_PROMOTION', 'IS_OPEN']],
      effect: (world, call) => {
        rowOf(world, call).closedBy = call.release
      },
      applied: 'closed',
      refused: (world, call) => {
        const { closedBy } = rowOf(world, call)
        if (closedBy === 0 || !PREDICATES.IS_OWN_ROW(world, call)) return 'absent'
        return closedBy === call.release ? 'closed' : 'byOther'
      },
    },
    remove: { sent: 'repeatedly', where: [['IS_OWN_ROW']], effect: removeRow, applied: 'done', refused: 'done' },
    noteLateCopy: note('lateCopy', NOTED),
    removeLateCopy: note('lateCopy', NO_NOTE),
    noteDeletion: note('deletion', NOTED),
    removeDeletion: note('deletion', NO_NOTE),
    /** Asks for the lease that was read. */
    forgetDeletion: { ...note('deletion', NO_NOTE), where: [['IS_SAME_NOTE']] },
  } satisfies Record<string, Write>
}
