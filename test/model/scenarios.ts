import type { Scenario } from './explore.ts'
import { DOCUMENT, entry, type Role, TOMBSTONE, type World } from './world.ts'

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

/** Twins have the same document id: place 0. The first entry is that of attempt 0, which is none. */
const twins = (attempts: number): number[] => Array.from({ length: attempts + 1 }, () => 0)
const APART = [0, 0, 1]

const ROOM_FOR_TWO = { quota: 2, maxTakings: 2 }

/**
 * The bounds of the exploration. Each attempt at a document, each deletion, happens once, in any order; the resolver and the
 * audit begin again and again.
 */
export const SCENARIOS = {
  alone: {
    name: 'a plain promotion, a resolver',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [plain(1), resolver] },
    faults: 3,
  },
  plain: {
    name: 'a plain promotion, two resolvers',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [plain(1), resolver, resolver] },
    faults: 2,
  },
  keyed: {
    name: 'a promotion with an Idempotency-Key, a resolver',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [promotion(1), resolver] },
    faults: 3,
  },
  twins: {
    name: 'two promotions with one Idempotency-Key',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(2), roles: [promotion(1), promotion(2), resolver] },
    faults: 1,
  },
  crowd: {
    name: 'a plain promotion and one with a key, room for one taking',
    setup: { quota: 1, maxTakings: 1, placeOf: APART, roles: [plain(1), promotion(2), resolver] },
    faults: 1,
  },
  deletions: {
    name: 'two deletions of a document',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [deletion, deletion, resolver] },
    faults: 2,
    begin: withDocument,
  },
  again: {
    name: 'a deletion, and a promotion with the same key',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(2), roles: [deletion, promotion(2), resolver] },
    faults: 2,
    begin: withDocument,
  },
  tombstone: {
    name: 'a promotion, a tombstone of its twin that may expire',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(2), roles: [promotion(2), resolver] },
    faults: 3,
    begin: withOldTombstone,
  },
  restored: {
    name: 'the marker of a document’s taking is back, from a backup; its deletion',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [deletion, resolver] },
    faults: 2,
    begin: withOldMarker,
  },
  wrongPlain: {
    name: 'leases that are wrong: a plain promotion',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [plain(1), resolver], areLeasesWrong: true },
    faults: 2,
  },
  wrongKeyed: {
    name: 'leases that are wrong: a promotion with an Idempotency-Key',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [promotion(1), resolver], areLeasesWrong: true },
    faults: 1,
  },
  wrongTwins: {
    name: 'leases that are wrong: two promotions with one Idempotency-Key',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(2), roles: [promotion(1), promotion(2), resolver], areLeasesWrong: true },
    faults: 0,
  },
  wrongDeletion: {
    name: 'leases that are wrong: a plain promotion and its deletion',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [plain(1), deletion, resolver], areLeasesWrong: true },
    faults: 1,
  },
  audit: {
    name: 'a promotion, its deletion, an audit',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [promotion(1), deletion, audit, resolver] },
    faults: 1,
  },
  plainAudit: {
    name: 'a plain promotion, its deletion, an audit',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(1), roles: [plain(1), deletion, audit, resolver] },
    faults: 1,
  },
  drift: {
    name: 'a promotion, an audit, too many bytes counted',
    setup: { ...ROOM_FOR_TWO, placeOf: APART, roles: [promotion(2), audit, resolver] },
    faults: 1,
    begin: withDrift(1),
  },
  negativeDrift: {
    name: 'a promotion, an audit, too few bytes counted',
    setup: { ...ROOM_FOR_TWO, placeOf: APART, roles: [promotion(2), audit, resolver] },
    faults: 1,
    begin: withDrift(-1),
  },
} as const satisfies Record<string, Scenario>

/** Too many states for every day. */
export const LONG_SCENARIOS = {
  triplets: {
    name: 'three promotions with one Idempotency-Key',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(3), roles: [promotion(1), promotion(2), promotion(3), resolver] },
    faults: 1,
  },
  twinsAndDeletion: {
    name: 'two promotions with one Idempotency-Key, a deletion',
    setup: { ...ROOM_FOR_TWO, placeOf: twins(2), roles: [promotion(1), promotion(2), deletion, resolver] },
    faults: 1,
  },
} as const satisfies Record<string, Scenario>
