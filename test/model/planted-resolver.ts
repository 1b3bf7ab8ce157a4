import { BYTES, LOOSE_OBJECT, misread, OBJECT, type PlantedBug, redirect, skip } from './planted-bug.ts'
import { SCENARIOS } from './scenarios.ts'
import { completeRelease } from './steps.ts'
import { FORESTALLED } from './world.ts'

const TAKING = { done: 'taking.release', forestalled: 'taking.release', fenced: 'taking.release' }

/** What a resolver leaves out, or concludes too early. */
export const PLANTED_IN_RESOLVER: readonly PlantedBug[] = [
  {
    name: 'undoes what it has just undone',
    plant: ({ steps }) => {
      Object.assign(steps, completeRelease('undone', 'undo', 'resolveRow.fence', 'waiting'))
      misread('resolver.confirmRow', (choices, { releases }, { about }) => {
        const release = releases.findIndex(({ attempt, isLeaseOver }) => attempt === about && isLeaseOver)
        return release === -1 ? choices : [{ label: 'finds a release of it', next: 'undone.close', about, release }]
      })({ steps } as never)
    },
    scenario: SCENARIOS.alone,
    breaks: 'the resolver undoes nothing that is undone',
  },
  {
    name: 'releases a taking without fence and forestall',
    plant: redirect({ 'taking.fence': { fenced: 'taking.release', inTheWay: 'taking.release' } }),
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
  },
  {
    name: 'releases a taking without fence and forestall, after a restore',
    plant: redirect({ 'taking.fence': { fenced: 'taking.release', inTheWay: 'taking.release' } }),
    scenario: SCENARIOS.restored,
    breaks: BYTES,
  },
  {
    name: 'releases a taking without forestall',
    plant: redirect({ 'taking.fence': { fenced: 'taking.release' } }),
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
  },
  {
    name: 'releases a taking with a claim without fence',
    plant: misread('resolver.findRow', (choices) =>
      choices.map((choice) => (choice.next === 'claimed.fence' ? { ...choice, next: 'claimed.note' } : choice)),
    ),
    scenario: SCENARIOS.wrongKeyed,
    breaks: OBJECT,
  },
  {
    name: 'removes a claim before its late copy is noted',
    plant: redirect({
      'claimed.fence': { fenced: 'claimed.removeClaim' },
      'claimed.removeClaim': { forestalled: 'claimed.note' },
      'claimed.note': TAKING,
    }),
    scenario: SCENARIOS.keyed,
    breaks: LOOSE_OBJECT,
  },
  {
    name: 'removes a claim whose late copy could not be noted',
    plant: skip('resolver.confirmClaim', 'resolver.removeClaim'),
    scenario: SCENARIOS.keyed,
    breaks: LOOSE_OBJECT,
  },
  {
    name: 'takes what was forestalled for open',
    plant: misread('resolver.findRow', (choices, { places }) =>
      places.some(({ row }) => row.purpose === FORESTALLED)
        ? [{ label: 'takes it for open', next: 'taking.unmark' }]
        : choices,
    ),
    scenario: SCENARIOS.alone,
    breaks: BYTES,
  },
  {
    name: 'a forestalled reservation goes while its attempt sleeps',
    plant: misread('resolver.rows', (choices, { places }) => {
      const row = places.find(({ row: { purpose } }) => purpose === FORESTALLED)?.row
      return row ? [...choices, { label: 'removes it', next: 'forestalled.fence', about: row.attempt }] : choices
    }),
    scenario: SCENARIOS.wrongPlain,
    breaks: BYTES,
  },
  {
    name: 'discards a late copy without a fence',
    plant: redirect({ 'lateCopy.fence': { fenced: 'lateCopy.discard', inTheWay: 'lateCopy.discard' } }),
    scenario: SCENARIOS.wrongTwins,
    breaks: OBJECT,
  },
  {
    name: 'does not note the late copy of the dead',
    plant: redirect({
      'resolveRow.fence': { fenced: 'resolveRow.unmark' },
      'resolveRow.fenceBeside': { fenced: 'resolveRow.unmark' },
    }),
    scenario: SCENARIOS.plain,
    breaks: LOOSE_OBJECT,
  },
  {
    name: 'removes a closed row whose release it has not looked for',
    plant: skip('resolver.confirmClosed', 'resolver.removeClosed'),
    scenario: SCENARIOS.plain,
    breaks: BYTES,
  },
]
