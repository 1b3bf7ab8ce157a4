import { keepForADay } from './document-writes.ts'
import { BYTES, NO_DOCUMENT, OBJECT, type PlantedBug, SUM } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { placeOf, TOMBSTONE } from './world.ts'

/** As in planted-counter-writes.ts, for the documents. */
export const PLANTED_DOCUMENT_WRITES: readonly PlantedBug[] = [
  {
    name: 'record: overwrites a document',
    plant: ({ writes }) => {
      writes.record.where = [['IS_FREE'], ['IS_NOT_FENCED', 'IS_NEWER']]
    },
    scenario: SCENARIOS.twins,
    faults: 0,
    breaks: BYTES,
  },
  {
    name: 'record: ignores fenced_through',
    plant: ({ writes }) => {
      writes.record.where = [['IS_FREE'], ['IS_TOMBSTONE', 'IS_FINISHED', 'IS_NEWER']]
    },
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
  },
  {
    name: 'record: overwrites a tombstone whose deletion is not finished',
    plant: ({ writes }) => {
      writes.record.where = [['IS_FREE'], ['IS_TOMBSTONE', 'IS_NOT_FENCED', 'IS_NEWER']]
    },
    scenario: SCENARIOS.again,
    breaks: BYTES,
  },
  {
    name: 'fence: does not make a tombstone last longer',
    plant: ({ writes }) => {
      writes.fence.effect = (world, call) => {
        const { document } = placeOf(world, call.attempt)
        if (!document.isFinished) keepForADay(world, call)
        Object.assign(document, { kind: TOMBSTONE, fencedThrough: call.attempt })
      }
    },
    scenario: SCENARIOS.tombstone,
    faults: 1,
    breaks: OBJECT,
  },
  {
    name: 'retire: takes another deletion’s tombstone for its own',
    plant: ({ writes }) => {
      writes.retire.where = [['IS_ATTEMPTS_DOCUMENT'], ['IS_TOMBSTONE']]
    },
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
  },
  {
    name: 'retire: lets the tombstone expire before the deletion is finished',
    plant: ({ writes }) => {
      const { effect } = writes.retire
      writes.retire.effect = (world, call) => {
        effect(world, call)
        keepForADay(world, call)
      }
    },
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
  },
  {
    name: 'finish: does not say until when the bytes were counted',
    plant: ({ writes }) => {
      writes.finish.effect = keepForADay
    },
    scenario: SCENARIOS.audit,
    faults: 0,
    breaks: SUM,
  },
]
