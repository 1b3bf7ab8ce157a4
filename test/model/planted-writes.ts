import { keepForADay } from './document-writes.ts'
import { BYTES, NO_DOCUMENT, type PlantedBug, rewrite, SUM, UNFINISHED } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { placeOf, TOMBSTONE } from './world.ts'
import { createWrites } from './writes.ts'

const { retire, markDeletion, release } = createWrites()

/** Conditions left out, writes sent more often than they may be. */
export const PLANTED_WRITES: readonly PlantedBug[] = [
  {
    name: 'take: its condition forgets HAS_ROOM',
    plant: rewrite('take', { where: [['IS_NEW_MARKER', 'IS_NOT_CROWDED']] }),
    scenario: SCENARIOS.crowd,
    breaks: 'the quota is not exceeded',
  },
  {
    name: 'take: its condition forgets IS_NOT_CROWDED',
    plant: rewrite('take', { where: [['HAS_ROOM', 'IS_NEW_MARKER']] }),
    scenario: { ...SCENARIOS.crowd, setup: { ...SCENARIOS.crowd.setup, quota: 2 } },
    breaks: 'the item stays small',
  },
  {
    name: 'take: sent again after a try that was not answered',
    plant: rewrite('take', { sent: 'repeatedly' }),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'mark: sent again under the same id',
    plant: rewrite('mark', { sent: 'repeatedly' }),
    scenario: SCENARIOS.alone,
    breaks: BYTES,
  },
  {
    name: 'release: gives bytes back without its marker',
    plant: rewrite('release', { where: [[]] }),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'schedule: does not change the version',
    plant: rewrite('schedule', { isOfCounter: undefined as never }),
    scenario: SCENARIOS.deletions,
    breaks: UNFINISHED,
  },
  {
    name: 'reschedule: whatever came since the counter was read',
    plant: rewrite('reschedule', { where: [[]] }),
    scenario: SCENARIOS.twins,
    breaks: 'at rest: no marker',
  },
  {
    name: 'correct: also what was corrected before',
    plant: rewrite('correct', { where: [[]] }),
    scenario: SCENARIOS.drift,
    breaks: 'a correction leaves no drift',
  },
  {
    name: 'release: is not counted as an undone one',
    plant: rewrite('release', {
      effect: (world, call) => {
        release.effect(world, call)
        world.cut.isUndone = false
      },
    }),
    scenario: SCENARIOS.audit,
    breaks: SUM,
  },
  {
    name: 'mark: a deletion does not tell its version',
    plant: rewrite('markDeletion', {
      effect: (world, call) => {
        markDeletion.effect(world, call)
        world.cut.laterReleases = 0
      },
    }),
    scenario: SCENARIOS.audit,
    breaks: SUM,
  },

  {
    name: 'claim: sent again, and comes once more',
    plant: rewrite('claim', { sent: 'repeatedly' }),
    scenario: SCENARIOS.wrongKeyed,
    breaks: BYTES,
  },
  {
    name: 'claim: takes the place of an open row',
    plant: rewrite('claim', { where: [['IS_FREE_ROW'], ['IS_PROMOTION']] }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'open: an attempt with a key opens without its claim',
    plant: rewrite('openClaimed', { where: [['IS_OWN_ROW', 'IS_CLAIM'], ['IS_FREE_ROW']] }),
    scenario: SCENARIOS.wrongKeyed,
    breaks: BYTES,
  },
  {
    name: 'open: sent again after a try that was not answered',
    plant: rewrite('open', { sent: 'repeatedly' }),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'forestall: takes the place of an open row',
    plant: rewrite('forestall', { where: [['IS_FREE_ROW'], ['IS_OWN_ROW']] }),
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
  },
  {
    name: 'close: takes a row over from another release',
    plant: rewrite('close', { where: [['IS_OWN_ROW', 'IS_PROMOTION']] }),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
  {
    name: 'remove: removes another attempt’s row',
    plant: rewrite('remove', { where: [[]] }),
    scenario: SCENARIOS.twins,
    breaks: BYTES,
  },
  {
    name: 'forget: removes the note of a deletion that has begun anew',
    plant: rewrite('forgetDeletion', { where: [[]] }),
    scenario: SCENARIOS.deletions,
    breaks: UNFINISHED,
  },

  {
    name: 'record: ignores fenced_through',
    plant: rewrite('record', { where: [['IS_FREE'], ['IS_TOMBSTONE', 'WAS_NO_DOCUMENT']] }),
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
  },
  {
    name: 'fence: does not make a tombstone last longer',
    plant: rewrite('fence', {
      effect: (world, call) => {
        const { document } = placeOf(world, call.attempt)
        if (!document.isFinished) keepForADay(world, call)
        Object.assign(document, { kind: TOMBSTONE, fencedThrough: call.attempt })
      },
    }),
    scenario: SCENARIOS.tombstone,
    breaks: NO_DOCUMENT,
  },
  {
    name: 'retire: lets the tombstone expire before the deletion is finished',
    plant: rewrite('retire', {
      effect: (world, call) => {
        retire.effect(world, call)
        keepForADay(world, call)
      },
    }),
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
  },
  {
    name: 'close: takes a tombstone over from another release',
    plant: rewrite('closeTombstone', { where: [['IS_UNFINISHED']] }),
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
  },
  {
    name: 'close: a finished tombstone, too',
    plant: rewrite('closeTombstone', { where: [['IS_TOMBSTONE', 'IS_CLOSED_BY'], ['IS_TOMBSTONE']] }),
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
  },
]
