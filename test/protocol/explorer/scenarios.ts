import type { Fate } from '../histories/process.ts'

/** What takes part in a scenario. */
export type Role =
  | { kind: 'promote'; file: number; key?: number }
  /** Of the newest document. */
  | { kind: 'delete' }
  | { kind: 'resolve' }
  | { kind: 'audit' }

/** What a schedule may contain. */
export interface Bounds {
  /** Times that a process is left for another one although it could go on. */
  switches: number
  /** Calls whose fate is not 'ok', and kills. */
  faults: number
  /** Times that time passes: until callers' processes are dead, or until all leases are over. */
  times: number
}

export interface Scenario {
  name: string
  /** What stands when it begins: a document, made with a key; two; one, and the note of a deletion that died; one whose marker is back from a backup; a fence against the key. */
  before?: 'keyed' | 'two' | 'noted' | 'restored' | 'tombstone'
  /** The call that the first role has come to, for the nth time. */
  begun?: readonly [call: string, nth?: number]
  roles: readonly Role[]
  bounds: Bounds
  /** The faults that are tried; left out: all. */
  fates?: readonly Fate[]
  /** Bytes that the ledger counts too many, or too few. */
  drift?: number
  quotaBytes?: number
  maxTakings?: number
  /** Time passes for leases, not for processes: a promotion may go on when its lease is over. */
  areLeasesWrong?: true
  /** Nobody undoes anything beside the resolver. */
  isResolverAlone?: true
}

const plain: Role = { kind: 'promote', file: 0 }
const keyed: Role = { kind: 'promote', file: 0, key: 0 }
const deletion: Role = { kind: 'delete' }
const resolver: Role = { kind: 'resolve' }
const audit: Role = { kind: 'audit' }

/** @param fates the faults that are tried; none given: all */
export type Within = readonly [switches: number, faults: number, times: number, ...fates: Fate[]]
export const within = (...[switches, faults, times, ...fates]: Within): Pick<Scenario, 'bounds' | 'fates'> => {
  return { bounds: { switches, faults, times }, ...(fates.length > 0 && { fates }) }
}
/** One more in each direction, for each. */
export const boundsOf = ({ switches, faults, times }: Bounds, more: number): Bounds => {
  return { switches: switches + more, faults: faults + more, times: times + more }
}
const wrongly = { areLeasesWrong: true } as const

export const SCENARIOS = {
  alone: { name: 'a plain promotion, a resolver', roles: [plain, resolver], isResolverAlone: true, ...within(1, 2, 2) },
  plain: { name: 'a plain promotion, two resolvers', roles: [plain, resolver, resolver], ...within(1, 1, 2) },
  keyed: {
    name: 'a promotion with an Idempotency-Key, two resolvers',
    roles: [keyed, resolver, resolver],
    ...within(1, 1, 2),
  },
  twins: { name: 'two promotions with one key', roles: [keyed, keyed, resolver], ...within(1, 1, 2) },
  crowd: {
    name: 'a plain promotion and one with a key, room for one',
    roles: [plain, keyed, resolver],
    quotaBytes: 10,
    ...within(2, 1, 1),
  },
  small: {
    name: 'a plain promotion and one with a key, room for one taking',
    roles: [plain, keyed, resolver],
    maxTakings: 1,
    ...within(1, 1, 0),
  },
  deletions: {
    name: 'two deletions of a document',
    before: 'keyed',
    roles: [deletion, deletion, resolver],
    ...within(2, 1, 1),
  },
  deletion: { name: 'a deletion', before: 'keyed', roles: [deletion, resolver], ...within(1, 2, 2) },
  noted: {
    name: 'a deletion after one that died',
    before: 'noted',
    roles: [deletion, resolver],
    ...within(1, 1, 2),
  },
  keyedDeletion: {
    name: 'a promotion with a key, its deletion',
    roles: [keyed, deletion, resolver],
    ...within(2, 1, 1),
  },
  later: {
    name: 'a promotion in a workspace that is due',
    before: 'keyed',
    roles: [plain, resolver],
    ...within(1, 1, 2),
  },
  again: {
    name: 'a deletion, and a promotion with the same key',
    before: 'keyed',
    roles: [deletion, keyed, resolver],
    ...within(2, 1, 1),
  },
  tombstone: {
    name: 'a promotion, a tombstone of its twin that may expire',
    before: 'tombstone',
    roles: [keyed, resolver],
    ...within(1, 2, 1),
  },
  restored: {
    name: 'the marker of a document’s taking is back, from a backup; its deletion',
    before: 'restored',
    roles: [deletion, resolver],
    ...within(2, 2, 1),
  },
  wrongPlain: { name: 'wrong leases: a plain promotion', roles: [plain, resolver], ...wrongly, ...within(2, 1, 1) },
  wrongTwice: {
    name: 'wrong leases: a plain promotion, two resolvers',
    roles: [plain, resolver, resolver],
    ...wrongly,
    ...within(1, 0, 2),
  },
  wrongKeyed: {
    name: 'wrong leases: a promotion with a key',
    roles: [keyed, resolver],
    ...wrongly,
    ...within(2, 1, 1),
  },
  wrongTwins: {
    name: 'wrong leases: two promotions with one key',
    roles: [keyed, keyed, resolver],
    ...wrongly,
    ...within(3, 0, 2),
  },
  wrongTakeover: {
    name: 'wrong leases: a promotion that has claimed, its twin',
    roles: [keyed, keyed, resolver],
    begun: ['ledger.take'],
    ...wrongly,
    ...within(1, 1, 1),
  },
  wrongDeletion: {
    name: 'wrong leases: a plain promotion, its deletion',
    roles: [plain, deletion, resolver],
    ...wrongly,
    ...within(2, 1, 1),
  },
  audit: {
    name: 'a promotion with a key, its deletion, an audit',
    roles: [keyed, deletion, audit],
    ...within(2, 1, 0),
  },
  plainAudit: {
    name: 'a plain promotion, its deletion, an audit',
    roles: [plain, deletion, audit],
    ...within(2, 1, 0),
  },
  promotionAudit: { name: 'a promotion with a key, an audit', roles: [keyed, audit], ...within(2, 1, 0) },
  deletionAudit: { name: 'a deletion, an audit', before: 'keyed', roles: [deletion, audit], ...within(2, 1, 0) },
  pages: {
    name: 'a promotion, its deletion, an audit of several pages',
    before: 'two',
    roles: [audit, plain, deletion],
    begun: ['documents.listRows', 2],
    ...within(1, 0, 0),
  },
  recording: {
    name: 'a promotion that is about to record, its deletion, an audit',
    roles: [keyed, deletion, audit],
    begun: ['documents.record'],
    ...within(2, 1, 0),
  },
  drift: {
    name: 'a promotion, two audits, too many bytes counted',
    before: 'keyed',
    roles: [plain, audit, audit],
    drift: 7,
    ...within(2, 0, 0),
  },
  negativeDrift: {
    name: 'a promotion, two audits, too few bytes counted',
    before: 'keyed',
    roles: [plain, audit, audit],
    drift: -7,
    ...within(2, 0, 0),
  },
} as const satisfies Record<string, Scenario>

export type ScenarioId = keyof typeof SCENARIOS
