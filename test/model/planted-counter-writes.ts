import { BYTES, type PlantedBug, SUM } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { entry } from './world.ts'

/** Conditions of the counter left out, its writes sent more often than they may be. */
export const PLANTED_COUNTER_WRITES: readonly PlantedBug[] = [
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
]
