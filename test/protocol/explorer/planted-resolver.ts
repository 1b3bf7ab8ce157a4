import type { PlantedBugs } from './plant.ts'

const LEFTOVERS = 'lib/ledger/leftovers.ts'

const FENCE = "const isRecorded = (await documents.fence(attempt, signal)) === 'recorded'"
const NOTE = "if (isClaimed && !isRecorded) await reservations.note('late_copy', lateCopy, signal)"
const FENCE_RESERVATION = "isRecorded || (await reservations.fence(lateCopy, isClaimed, signal)) === 'reserved'"
const GIVE_BACK = 'await quota.release(taking, signal)'

/** What a resolver leaves out, or concludes too early. */
export const PLANTED_IN_RESOLVER: PlantedBugs = {
  'the resolver: undoes what it has just undone': [
    'alone',
    [0, 2, 1, 'fail_before', 'kill_after'],
    LEFTOVERS,
    ["(purpose === 'promotion' && releases.some((release) => release.attemptId === attemptId)) ||", ''],
  ],
  'the resolver: gives a taking back without any fence': [
    'wrongPlain',
    [0, 1, 1],
    LEFTOVERS,
    [FENCE, ''],
    [NOTE, ''],
    [FENCE_RESERVATION, 'false'],
  ],
  'the resolver: gives a taking back without any fence, after a restore': [
    'restored',
    [0, 0, 0],
    LEFTOVERS,
    [FENCE, ''],
    [NOTE, ''],
    [FENCE_RESERVATION, 'false'],
  ],
  'the resolver: gives a taking back without a fence of its reservation': [
    'wrongPlain',
    [0, 1, 1],
    LEFTOVERS,
    [FENCE_RESERVATION, 'isRecorded'],
  ],
  'the resolver: the fence of a reservation goes while its attempt sleeps': [
    'wrongTwice',
    [1, 0, 2],
    LEFTOVERS,
    [FENCE_RESERVATION, FENCE_RESERVATION.replace('lateCopy', 'attempt')],
  ],
  'the resolver: gives a taking with a claim back without a fence': [
    'wrongKeyed',
    [2, 0, 1],
    LEFTOVERS,
    [FENCE, FENCE.replace('(await', "(isClaimed ? 'fenced' : await")],
  ],
  'the resolver: removes a claim before its late copy is noted': [
    'keyed',
    [1, 1, 1, 'fail_before'],
    LEFTOVERS,
    [NOTE, ''],
    [GIVE_BACK, `${NOTE}\n  ${GIVE_BACK}`],
  ],
  'the resolver: removes a claim whose late copy could not be noted': [
    'keyed',
    [1, 1, 1, 'fail_before'],
    LEFTOVERS,
    [" ||\n    (purpose === 'claim' && takings.some((taking) => taking.attemptId === attemptId))", ''],
  ],
  'the resolver: takes a fence of a reservation for one that is open': [
    'alone',
    [0, 2, 1, 'fail_before', 'kill_after'],
    LEFTOVERS,
    ["|| each.purpose === 'claim')", "|| each.purpose === 'claim' || each.purpose === 'fence')"],
    ["if (existing?.purpose === 'promotion')", "if (existing && existing.purpose !== 'claim')"],
  ],
  'the resolver: discards a late copy without a fence': [
    'wrongTakeover',
    [1, 0, 1],
    LEFTOVERS,
    ["if ((await documents.fence(attempt, signal)) === 'recorded') return", ''],
  ],
  'the resolver: does not note the late copy of the dead': [
    'alone',
    [1, 1, 1, 'late'],
    LEFTOVERS,
    ['{ mayCopyArrive: true }', '{ mayCopyArrive: false }'],
  ],
  'the resolver: removes a reservation whose release it has not looked for': [
    'wrongPlain',
    [3, 1, 1, 'fail_before'],
    'lib/ledger/resolve-workspace.ts',
    ['findLeftovers(ledger,', 'findLeftovers(before,'],
  ],
}
