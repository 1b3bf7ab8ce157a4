import { keepForADay } from './document-writes.ts'
import { BYTES, NO_DOCUMENT, type PlantedBugs, rewrite, SUM, UNFINISHED } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { placeOf, TOMBSTONE } from './world.ts'
import { createWrites } from './writes.ts'

const { retire, markDeletion, release } = createWrites()

/** Conditions left out, writes sent more often than they may be. */
export const PLANTED_WRITES: readonly PlantedBugs[] = [
  {
    scenario: SCENARIOS.crowd,
    breaks: 'the quota is not exceeded',
    bugs: {
      'take: its condition forgets HAS_ROOM': rewrite('take', { where: [['IS_NEW_MARKER', 'IS_NOT_CROWDED']] }),
    },
  },
  {
    scenario: { ...SCENARIOS.crowd, setup: { ...SCENARIOS.crowd.setup, quota: 2 } },
    breaks: 'the item stays small',
    bugs: {
      'take: its condition forgets IS_NOT_CROWDED': rewrite('take', { where: [['HAS_ROOM', 'IS_NEW_MARKER']] }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: BYTES,
    bugs: {
      'take: sent again after a try that was not answered': rewrite('take', { sent: 'repeatedly' }),
      'release: gives bytes back without its marker': rewrite('release', { where: [[]] }),
      'open: sent again after a try that was not answered': rewrite('open', { sent: 'repeatedly' }),
      'close: takes a row over from another release': rewrite('close', { where: [['IS_OWN_ROW', 'IS_PROMOTION']] }),
    },
  },
  {
    scenario: SCENARIOS.alone,
    breaks: BYTES,
    bugs: {
      'mark: sent again under the same id': rewrite('mark', { sent: 'repeatedly' }),
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: UNFINISHED,
    bugs: {
      'schedule: does not change the version': rewrite('schedule', { isOfCounter: undefined as never }),
      'forget: removes the note of a deletion that has begun anew': rewrite('forgetDeletion', { where: [[]] }),
    },
  },
  {
    scenario: SCENARIOS.twins,
    breaks: 'at rest: no marker',
    bugs: {
      'reschedule: whatever came since the counter was read': rewrite('reschedule', { where: [[]] }),
    },
  },
  {
    scenario: SCENARIOS.drift,
    breaks: 'a correction leaves no drift',
    bugs: {
      'correct: also what was corrected before': rewrite('correct', { where: [[]] }),
    },
  },
  {
    scenario: SCENARIOS.audit,
    breaks: SUM,
    bugs: {
      'release: is not counted as an undone one': rewrite('release', {
        effect: (world, call) => {
          release.effect(world, call)
          world.cut.isUndone = false
        },
      }),
      'mark: a deletion does not tell its version': rewrite('markDeletion', {
        effect: (world, call) => {
          markDeletion.effect(world, call)
          world.cut.laterReleases = 0
        },
      }),
    },
  },
  {
    scenario: SCENARIOS.wrongKeyed,
    breaks: BYTES,
    bugs: {
      'claim: sent again, and comes once more': rewrite('claim', { sent: 'repeatedly' }),
      'open: an attempt with a key opens without its claim': rewrite('openClaimed', {
        where: [['IS_OWN_ROW', 'IS_CLAIM'], ['IS_FREE_ROW']],
      }),
    },
  },
  {
    scenario: SCENARIOS.twins,
    breaks: BYTES,
    bugs: {
      'claim: takes the place of an open row': rewrite('claim', { where: [['IS_FREE_ROW'], ['IS_PROMOTION']] }),
      'remove: removes another attempt’s row': rewrite('remove', { where: [[]] }),
    },
  },
  {
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
    bugs: {
      'forestall: takes the place of an open row': rewrite('forestall', { where: [['IS_FREE_ROW'], ['IS_OWN_ROW']] }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: NO_DOCUMENT,
    bugs: {
      'record: ignores fenced_through': rewrite('record', {
        where: [['IS_FREE'], ['IS_TOMBSTONE', 'WAS_NO_DOCUMENT']],
      }),
    },
  },
  {
    scenario: SCENARIOS.tombstone,
    breaks: NO_DOCUMENT,
    bugs: {
      'fence: does not make a tombstone last longer': rewrite('fence', {
        effect: (world, call) => {
          const { document } = placeOf(world, call.attempt)
          if (!document.isFinished) keepForADay(world, call)
          Object.assign(document, { kind: TOMBSTONE, fencedThrough: call.attempt })
        },
      }),
    },
  },
  {
    scenario: SCENARIOS.deletions,
    breaks: BYTES,
    bugs: {
      'retire: lets the tombstone expire before the deletion is finished': rewrite('retire', {
        effect: (world, call) => {
          retire.effect(world, call)
          keepForADay(world, call)
        },
      }),
      'close: takes a tombstone over from another release': rewrite('closeTombstone', { where: [['IS_UNFINISHED']] }),
      'close: a finished tombstone, too': rewrite('closeTombstone', {
        where: [['IS_TOMBSTONE', 'IS_CLOSED_BY'], ['IS_TOMBSTONE']],
      }),
    },
  },
]
