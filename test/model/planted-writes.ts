import { keepForADay } from './document-writes.ts'
import { BYTES, NO_DOCUMENT, OBJECT, type PlantedBug, SUM } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { entry, placeOf, TOMBSTONE } from './world.ts'

/** Conditions left out, writes sent more often than they may be. */
export const PLANTED_WRITES: readonly PlantedBug[] = [
  {
    name: 'take: its condition forgets HAS_ROOM',
    plant: ({ writes }) => {
      writes.take.where = [['IS_NEW_MARKER', 'IS_NOT_CROWDED']]
    },
    scenario: SCENARIOS.crowd,
    breaks: 'the quota is not exceeded',
  },
  {
    name: 'take: its condition forgets IS_NOT_CROWDED',
    plant: ({ writes }) => {
      writes.take.where = [['HAS_ROOM', 'IS_NEW_MARKER']]
    },
    scenario: { ...SCENARIOS.crowd, setup: { ...SCENARIOS.crowd.setup, quota: 2 } },
    breaks: 'the item stays small',
  },
  {
    name: 'take: sent again after a try that was not answered',
    plant: ({ writes }) => {
      writes.take.sent = 'repeatedly'
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'mark: sent again under the same id',
    plant: ({ writes }) => {
      writes.mark.sent = 'afterErrors'
    },
    scenario: SCENARIOS.deletions,
    faults: 1,
    breaks: BYTES,
  },
  {
    name: 'release: gives bytes back without its marker',
    plant: ({ writes }) => {
      writes.release.where = [[]]
    },
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'release: the marker of a deletion goes with the bytes',
    plant: ({ writes }) => {
      writes.release.effect = (world, call) => {
        world.used--
        writes.unmark.effect(world, call)
      }
    },
    scenario: SCENARIOS.deletions,
    breaks: 'at rest: a tombstone is finished',
  },
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
    name: 'reschedule: whatever came since the counter was read',
    plant: ({ writes }) => {
      writes.reschedule.where = [[]]
    },
    scenario: SCENARIOS.twins,
    faults: 1,
    breaks: 'at rest: no marker',
  },
  {
    name: 'correct: also what was corrected before',
    plant: ({ writes }) => {
      writes.correct.where = [[]]
    },
    scenario: SCENARIOS.drift,
    faults: 1,
    breaks: 'a correction leaves no drift',
  },
  {
    name: 'release: a repeated one of a deletion says that the bytes were counted until now',
    plant: ({ writes }) => {
      const { effect } = writes.release
      writes.release.effect = (world, call) => {
        if (entry(world.releases, call.release).isEmpty) world.cut.gone &= ~(1 << call.attempt)
        effect(world, call)
      }
    },
    scenario: SCENARIOS.audit,
    faults: 1,
    breaks: SUM,
  },
  {
    name: 'release: an undone reservation is not counted as one',
    plant: ({ writes }) => {
      const { effect } = writes.release
      writes.release.effect = (world, call) => {
        effect(world, call)
        world.cut.isUndone = false
      }
    },
    scenario: SCENARIOS.audit,
    faults: 1,
    breaks: SUM,
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
