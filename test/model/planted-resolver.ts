import { BYTES, LOOSE_OBJECT, misread, OBJECT, type PlantedBugs, redirect, skip } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { completeRelease } from './steps.ts'
import { FORESTALLED } from './world.ts'

const TAKING = { done: 'taking.release', forestalled: 'taking.release', fenced: 'taking.release' }

/** What a resolver leaves out, or concludes too early. */
export const PLANTED_IN_RESOLVER: readonly PlantedBugs[] = [
  {
    scenario: SCENARIOS.alone,
    breaks: 'the resolver undoes nothing that is undone',
    bugs: {
      'the resolver: undoes what it has just undone': ({ steps }) => {
        Object.assign(steps, completeRelease('undone', 'undo', 'resolveRow.fence', 'waiting'))
        misread('resolver.confirmRow', (choices, { releases }, { about }) => {
          const release = releases.findIndex(({ attempt, isLeaseOver }) => attempt === about && isLeaseOver)
          return release === -1 ? choices : [{ label: 'finds a release of it', next: 'undone.close', about, release }]
        })({ steps } as never)
      },
    },
  },
  {
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
    bugs: {
      'the resolver: releases a taking without fence and forestall': redirect({
        'taking.fence': { fenced: 'taking.release', inTheWay: 'taking.release' },
      }),
      'the resolver: releases a taking without forestall': redirect({ 'taking.fence': { fenced: 'taking.release' } }),
      'the resolver: a forestalled reservation goes while its attempt sleeps': misread(
        'resolver.rows',
        (choices, { places }) => {
          const row = places.find(({ row: { purpose } }) => purpose === FORESTALLED)?.row
          return row ? [...choices, { label: 'removes it', next: 'forestalled.fence', about: row.attempt }] : choices
        },
      ),
    },
  },
  {
    scenario: SCENARIOS.restored,
    breaks: BYTES,
    bugs: {
      'the resolver: releases a taking without fence and forestall, after a restore': redirect({
        'taking.fence': { fenced: 'taking.release', inTheWay: 'taking.release' },
      }),
    },
  },
  {
    scenario: SCENARIOS.wrongKeyed,
    breaks: OBJECT,
    bugs: {
      'the resolver: releases a taking with a claim without fence': misread('resolver.findRow', (choices) =>
        choices.map((choice) => (choice.next === 'claimed.fence' ? { ...choice, next: 'claimed.note' } : choice)),
      ),
    },
  },
  {
    scenario: SCENARIOS.keyed,
    breaks: LOOSE_OBJECT,
    bugs: {
      'the resolver: removes a claim before its late copy is noted': redirect({
        'claimed.fence': { fenced: 'claimed.removeClaim' },
        'claimed.removeClaim': { forestalled: 'claimed.note' },
        'claimed.note': TAKING,
      }),
      'the resolver: removes a claim whose late copy could not be noted': skip(
        'resolver.confirmClaim',
        'resolver.removeClaim',
      ),
    },
  },
  {
    scenario: SCENARIOS.alone,
    breaks: BYTES,
    bugs: {
      'the resolver: takes what was forestalled for open': misread('resolver.findRow', (choices, { places }) =>
        places.some(({ row }) => row.purpose === FORESTALLED)
          ? [{ label: 'takes it for open', next: 'taking.unmark' }]
          : choices,
      ),
    },
  },
  {
    scenario: SCENARIOS.wrongTwins,
    breaks: OBJECT,
    bugs: {
      'the resolver: discards a late copy without a fence': redirect({
        'lateCopy.fence': { fenced: 'lateCopy.discard', inTheWay: 'lateCopy.discard' },
      }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: LOOSE_OBJECT,
    bugs: {
      'the resolver: does not note the late copy of the dead': redirect({
        'resolveRow.fence': { fenced: 'resolveRow.unmark' },
        'resolveRow.fenceBeside': { fenced: 'resolveRow.unmark' },
      }),
    },
  },
  {
    scenario: SCENARIOS.plain,
    breaks: BYTES,
    bugs: {
      'the resolver: removes a closed row whose release it has not looked for': skip(
        'resolver.confirmClosed',
        'resolver.removeClosed',
      ),
    },
  },
]
