import type { Scenario } from './explore.ts'
import { DOCUMENT, entry, type Role, type Setup, TOMBSTONE, type World } from './world.ts'

const promotion = (attempt: number): Role => ({ kind: 'promotion', attempt, hasKey: true })
const plain = (attempt: number): Role => ({ kind: 'promotion', attempt, hasKey: false })
const deletion: Role = { kind: 'deletion', place: 0 }
const resolver: Role = { kind: 'resolver' }
const audit: Role = { kind: 'audit' }

/** Attempt 1 recorded its document before the run begins. */
function withDocument(world: World): void {
  Object.assign(entry(world.places, 0).document, { kind: DOCUMENT, attempt: 1 })
  Object.assign(entry(world.attempts, 1), { hasObject: true, wasRecorded: true })
  world.used = 1
}

/** The table of the workspaces was restored alone, from a moment when attempt 1 was under way. */
function withOldMarker(world: World): void {
  withDocument(world)
  entry(world.attempts, 1).isTaking = true
  world.isDue = true
}

function withDrift(drift: number): (world: World) => void {
  return (world) => {
    withDocument(world)
    world.drift = drift
    world.used += drift
  }
}

/** Attempt 1 was fenced out and given up a day ago. */
function withOldTombstone(world: World): void {
  Object.assign(entry(world.places, 0).document, { kind: TOMBSTONE, isFinished: true, fencedThrough: 1 })
}

const ROOM_FOR_TWO = { quota: 2, maxTakings: 2 }

/** Twins: attempts with the same document id, at place 0. The first entry of `placeOf` is that of attempt 0, which is none. */
const twins = (attempts: number, roles: Role[]): Setup => ({
  ...ROOM_FOR_TWO,
  placeOf: Array.from({ length: attempts + 1 }, () => 0),
  roles,
})
const one = (...roles: Role[]): Setup => twins(1, roles)
const two = (...roles: Role[]): Setup => twins(2, roles)
const apart = (...roles: Role[]): Setup => ({ ...ROOM_FOR_TWO, placeOf: [0, 0, 1], roles })
const wrongly = (setup: Setup): Setup => ({ ...setup, areLeasesWrong: true })

/**
 * The bounds of the exploration. Each attempt at a document, each deletion, happens once, in any order; the resolver and the
 * audit begin again and again.
 */
export const SCENARIOS = {
  alone: { name: 'a plain promotion, a resolver', setup: one(plain(1), resolver), faults: 3 },
  plain: { name: 'a plain promotion, two resolvers', setup: one(plain(1), resolver, resolver), faults: 2 },
  keyed: { name: 'a promotion with an Idempotency-Key', setup: one(promotion(1), resolver), faults: 3 },
  twins: { name: 'two promotions with one key', setup: two(promotion(1), promotion(2), resolver), faults: 1 },
  crowd: {
    name: 'a plain promotion and one with a key, room for one taking',
    setup: { ...apart(plain(1), promotion(2), resolver), quota: 1, maxTakings: 1 },
    faults: 1,
  },
  deletions: {
    name: 'two deletions of a document',
    setup: one(deletion, deletion, resolver),
    faults: 2,
    begin: withDocument,
  },
  again: {
    name: 'a deletion, and a promotion with the same key',
    setup: two(deletion, promotion(2), resolver),
    faults: 2,
    begin: withDocument,
  },
  tombstone: {
    name: 'a promotion, a tombstone of its twin that may expire',
    setup: two(promotion(2), resolver),
    faults: 3,
    begin: withOldTombstone,
  },
  restored: {
    name: 'the marker of a document’s taking is back, from a backup; its deletion',
    setup: one(deletion, resolver),
    faults: 3,
    begin: withOldMarker,
  },
  wrongPlain: { name: 'wrong leases: a plain promotion', setup: wrongly(one(plain(1), resolver)), faults: 2 },
  wrongKeyed: { name: 'wrong leases: a promotion with a key', setup: wrongly(one(promotion(1), resolver)), faults: 1 },
  wrongTwins: {
    name: 'wrong leases: two promotions with one key',
    setup: wrongly(two(promotion(1), promotion(2), resolver)),
    faults: 0,
  },
  wrongDeletion: {
    name: 'wrong leases: a plain promotion, its deletion',
    setup: wrongly(one(plain(1), deletion, resolver)),
    faults: 1,
  },
  audit: {
    name: 'a promotion with a key, its deletion, an audit',
    setup: one(promotion(1), deletion, audit, resolver),
    faults: 1,
  },
  plainAudit: {
    name: 'a plain promotion, its deletion, an audit',
    setup: one(plain(1), deletion, audit, resolver),
    faults: 1,
  },
  drift: {
    name: 'a promotion, an audit, too many bytes counted',
    setup: apart(promotion(2), audit, resolver),
    faults: 1,
    begin: withDrift(1),
  },
  negativeDrift: {
    name: 'a promotion, an audit, too few bytes counted',
    setup: apart(promotion(2), audit, resolver),
    faults: 1,
    begin: withDrift(-1),
  },
} as const satisfies Record<string, Scenario>

/** Too many states for every day. */
export const LONG_SCENARIOS = {
  triplets: {
    name: 'three promotions with one key',
    setup: twins(3, [promotion(1), promotion(2), promotion(3), resolver]),
    faults: 1,
  },
  twinsAndDeletion: {
    name: 'two promotions with one key, a deletion',
    setup: two(promotion(1), promotion(2), deletion, resolver),
    faults: 1,
  },
} as const satisfies Record<string, Scenario>
