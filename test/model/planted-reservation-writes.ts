import { BYTES, type PlantedBug } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { placeOf } from './world.ts'

/** As in planted-counter-writes.ts, for the reservations. */
export const PLANTED_RESERVATION_WRITES: readonly PlantedBug[] = [
  {
    name: 'open: sent again after a 5xx, and finds its own row',
    plant: ({ writes }) => {
      writes.open.sent = 'afterErrors'
      writes.open.refused = (world, { attempt }) =>
        placeOf(world, attempt).row.attempt === attempt ? 'done' : 'inProgress'
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'forestall: turns an open row into a fence',
    plant: ({ writes }) => {
      writes.forestall.where = [['IS_FREE_ROW'], ['IS_OWN_ROW']]
    },
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'forestall: repeated',
    plant: ({ writes }) => {
      writes.forestall.sent = 'repeatedly'
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'close: takes a row over from another release',
    plant: ({ writes }) => {
      writes.close.where = [['IS_OWN_ROW', 'IS_PROMOTION']]
    },
    scenario: SCENARIOS.plain,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'remove: removes another attempt’s row',
    plant: ({ writes }) => {
      writes.remove.where = [[]]
    },
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: BYTES,
  },
]
