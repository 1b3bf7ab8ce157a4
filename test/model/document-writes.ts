import { PREDICATES } from './predicates.ts'
import { type Call, DOCUMENT, entry, placeOf, TOMBSTONE, WAITING, type World } from './world.ts'
import type { Write } from './writes.ts'

const documentOf = (world: World, { attempt }: Call) => placeOf(world, attempt).document
const attemptOf = (world: World, { attempt }: Call) => entry(world.attempts, attempt)

/** expires_at = in a day: none of the functions that live now, or of their calls, will see the tombstone expire. */
export function keepForADay(world: World, call: Call): void {
  let living = 0
  world.processes.forEach((_, index) => {
    if (isContemporary(world, index, call)) living |= 1 << index
  })
  Object.assign(documentOf(world, call), { isFinished: true, contemporaries: living })
}

/** Attempts are numbered by time: one with a lower number has begun by now, or does so within minutes. */
function isContemporary(world: World, index: number, call: Call): boolean {
  const { step, isLeaseOver } = entry(world.processes, index)
  const role = entry(world.setup.roles, index)
  if (role.kind === 'promotion') return !isLeaseOver && (step !== WAITING || role.attempt < call.attempt)
  // An audit adds up for less than a day.
  return (role.kind === 'resolver' || role.kind === 'audit') && step !== WAITING
}

/** Writes of the documents, and of their objects. */
export function documentWrites() {
  return {
    record: {
      sent: 'once',
      where: [['IS_FREE'], ['IS_TOMBSTONE', 'IS_EXPIRED'], ['IS_TOMBSTONE', 'WAS_NO_DOCUMENT', 'IS_NOT_FENCED']],
      effect: (world, call) => {
        const { attempt } = call
        const document = { kind: DOCUMENT, attempt, closedBy: 0, isFinished: false, contemporaries: 0 }
        Object.assign(documentOf(world, call), document)
        attemptOf(world, call).wasRecorded = true
      },
      applied: 'done',
      refused: 'refused',
    },
    fence: {
      sent: 'repeatedly',
      where: [['IS_FREE'], ['IS_TOMBSTONE', 'IS_EXPIRED'], ['IS_TOMBSTONE', 'WAS_NO_DOCUMENT', 'IS_NOT_FENCED']],
      effect: (world, call) => {
        Object.assign(documentOf(world, call), { kind: TOMBSTONE, fencedThrough: call.attempt })
        keepForADay(world, call)
      },
      applied: 'fenced',
      refused: 'inTheWay',
    },
    /** The second half of `fence`, where another attempt's document is there or being deleted. */
    fenceBeside: {
      sent: 'repeatedly',
      where: [['IS_THERE', 'IS_NOT_FENCED', 'IS_NOT_OWN']],
      effect: (world, call) => {
        documentOf(world, call).fencedThrough = call.attempt
      },
      applied: 'fenced',
      refused: (world, call) => (documentOf(world, call).attempt === call.attempt ? 'recorded' : 'fenced'),
    },
    retire: {
      sent: 'repeatedly',
      where: [['IS_ATTEMPTS_DOCUMENT'], ['IS_UNFINISHED']],
      effect: (world, call) => {
        documentOf(world, call).kind = TOMBSTONE
        attemptOf(world, call).wasRetired = true
      },
      applied: 'retired',
      refused: 'absent',
    },
    closeTombstone: {
      sent: 'repeatedly',
      where: [['IS_UNFINISHED', 'IS_NOT_CLOSED']],
      effect: (world, call) => {
        documentOf(world, call).closedBy = call.release
      },
      applied: 'closed',
      refused: (world, call) => {
        if (!PREDICATES.IS_UNFINISHED(world, call)) return 'absent'
        return documentOf(world, call).closedBy === call.release ? 'closed' : 'byOther'
      },
    },
    finish: {
      sent: 'repeatedly',
      where: [['IS_CLOSED_BY']],
      effect: keepForADay,
      applied: 'done',
      refused: 'done',
    },
    copy: {
      sent: 'once',
      where: [[]],
      effect: (world, call) => {
        attemptOf(world, call).hasObject = true
      },
      applied: 'done',
      refused: 'refused',
    },
    discard: {
      sent: 'repeatedly',
      where: [[]],
      effect: (world, call) => {
        attemptOf(world, call).hasObject = false
      },
      applied: 'done',
      refused: 'done',
    },
  } satisfies Record<string, Write>
}
