import type { Fate } from './process.ts'
import type { Request } from './requests.ts'
import { LEASE_MS } from './stores.ts'
import type { Circumstances, World } from './world.ts'

export interface Bounds {
  /** Times that a process is left for another one although it could go on. */
  switches: number
  /** Calls whose fate is not 'ok', and kills. */
  faults: number
  /** Times that time passes: until callers' processes are dead, or until all leases are over. */
  times: number
}

export interface Scenario extends Circumstances {
  name: string
  /** A document that is there at the beginning: made with a key; expired; deleted by the resolver since; deleted a day ago. */
  before?: 'keyed' | 'expired' | 'buried' | 'forgotten'
  /** A refund of the first document is in the ledger still, or again. */
  hasLateRefund?: true
  /** How long before its expiry a document is, or a tombstone before it is forgotten. */
  leftMs?: number
  /** The call that the first role has come to. */
  begun?: string
  /** How long it may pass at once, ms. */
  passes?: readonly number[]
  roles: readonly Request[]
  bounds: Bounds
  /** The faults that are tried; left out: all. */
  fates?: readonly Fate[]
}

type Circumstance = Omit<Scenario, 'name' | 'roles' | 'bounds'>

const plain = { do: 'promote', file: 0 } as const
const keyed = { ...plain, key: 0 }
const another = { do: 'promote', file: 1 } as const
const prolonging = { do: 'change_expiry', seconds: 7200 } as const
const deletion = { do: 'delete' } as const
const resolver = { do: 'resolve' } as const
const early = { do: 'resolve', aheadMs: 160_000 } as const
const cleaner = { do: 'clean' } as const
const audit = { do: 'audit' } as const
const repair = { do: 'repair' } as const
const deleteWorkspace = { do: 'delete_workspace' } as const
const erasure = { do: 'erase' } as const
const EXPIRES_IN_SECONDS = 3600
const expiring = { ...keyed, expiresInSeconds: EXPIRES_IN_SECONDS }
const keyedBefore: Circumstance = { before: 'keyed' }
const expired: Circumstance = { before: 'expired' }
const wrongly: Circumstance = { areLeasesWrong: true }
const tight: Circumstance = { quotaBytes: 10 }

const scenario = (
  name: string,
  roles: Request[],
  [switches, faults, times]: readonly [number, number, number],
  more: Circumstance = {},
): Scenario => ({ name, roles, bounds: { switches, faults, times }, ...more })

const DAY_MS = 24 * 60 * 60 * 1000

export const SCENARIOS = {
  one: scenario('a promotion, two resolvers', [plain, resolver, resolver], [1, 2, 2]),
  keyed: scenario('a promotion with a key, a resolver, a cleaner', [keyed, resolver, cleaner], [1, 2, 2]),
  twins: scenario('two promotions with one key, a resolver', [keyed, keyed, resolver], [1, 2, 2]),
  twinsCleaner: scenario('two promotions with one key, a cleaner', [keyed, keyed, cleaner], [2, 1, 1]),
  twinsDeletion: scenario('two promotions with one key, a deletion', [keyed, keyed, deletion], [2, 1, 1]),
  two: scenario('two promotions, room for one', [plain, keyed, cleaner], [2, 1, 1], tight),
  three: scenario('twins and another, room for one', [keyed, keyed, plain], [1, 1, 1], tight),
  deletion: scenario('a deletion, a resolver, a cleaner', [deletion, resolver, cleaner], [1, 2, 2], keyedBefore),
  deletions: scenario('two deletions, a resolver', [deletion, deletion, resolver], [2, 1, 1], keyedBefore),
  deletionCleaner: scenario('a promotion, its deletion, a cleaner', [keyed, deletion, cleaner], [2, 1, 1]),
  again: scenario('a deletion, its promotion again', [deletion, keyed, resolver], [2, 1, 1], keyedBefore),
  forgotten: scenario('a promotion after a day, its deletion', [keyed, deletion, cleaner], [1, 1, 1], {
    before: 'forgotten',
  }),
  forgetting: scenario('a promotion as a tombstone is forgotten, a cleaner', [keyed, cleaner], [1, 1, 1], {
    before: 'forgotten',
    leftMs: 10_000,
    passes: [20_000],
  }),
  lateRefund: scenario('a late refund, a promotion, its deletion', [keyed, deletion, cleaner], [2, 0, 0], {
    before: 'forgotten',
    hasLateRefund: true,
  }),
  lateDeletion: scenario('wrong leases: a late deletion', [deletion, deletion, keyed], [1, 1, 1], {
    ...keyedBefore,
    ...wrongly,
    passes: [DAY_MS + LEASE_MS],
  }),
  expiryChange: scenario('an expiry by a wrong clock, its change', [early, prolonging, cleaner], [2, 1, 1], {
    ...expired,
    leftMs: 150_000,
  }),
  lateChange: scenario('a change of an expiry just before the end', [prolonging, resolver], [1, 1, 2], {
    ...expired,
    leftMs: 30_000,
    passes: [45_000],
  }),
  room: scenario('a deletion, a promotion into its room', [deletion, another, cleaner], [2, 1, 1], {
    ...keyedBefore,
    quotaBytes: 25,
  }),
  expiry: scenario('an expiry by two resolvers', [resolver, resolver, cleaner], [2, 1, 1], expired),
  expiryDeletion: scenario('an expiry, a deletion', [resolver, deletion, cleaner], [2, 1, 1], expired),
  expiryAgain: scenario('an expiry, its promotion again', [resolver, expiring, cleaner], [2, 1, 1], expired),
  expiredTwins: scenario('two promotions of what has expired', [expiring, expiring, resolver], [1, 1, 1], expired),
  audit: scenario('a promotion, a deletion, an audit', [audit, plain, deletion], [3, 0, 0], keyedBefore),
  auditOfTwo: scenario('two promotions, an audit', [audit, keyed, another], [3, 0, 0]),
  auditFaults: scenario('a promotion, an audit, a resolver', [audit, plain, resolver], [2, 1, 1], keyedBefore),
  auditDeletion: scenario('a deletion, an audit, a cleaner', [deletion, audit, cleaner], [2, 1, 0], keyedBefore),
  auditExpiry: scenario('a promotion of what has expired, an audit', [audit, expiring, resolver], [3, 0, 0], expired),
  auditKept: scenario('a promotion in the place of what had expired, an audit', [audit, expiring], [3, 1, 0], {
    before: 'buried',
  }),
  auditBegun: scenario('an audit, an expiry, its promotion again', [audit, resolver, expiring], [2, 0, 0], {
    ...expired,
    begun: 'documents.list',
  }),
  repair: scenario('a repair, a promotion, a deletion', [repair, plain, deletion], [2, 0, 0], keyedBefore),
  repairFaults: scenario('a promotion, a repair, a resolver', [plain, repair, resolver], [1, 1, 1]),
  repairExpiry: scenario('a repair, a promotion of what has expired', [repair, expiring], [2, 0, 1], expired),
  workspace: scenario('the end of a workspace, a promotion', [deleteWorkspace, plain, resolver], [2, 1, 1]),
  workspaceEnd: scenario('a deletion, the end of its workspace', [deletion, deleteWorkspace, plain], [2, 1, 0], {
    ...keyedBefore,
  }),
  erasure: scenario('an erasure, a promotion', [erasure, plain, resolver], [2, 1, 1], keyedBefore),
  erasureOfTwins: scenario('an erasure, two promotions with one key', [erasure, keyed, keyed], [2, 1, 1], keyedBefore),
  erasureRecord: scenario('a record, an erasure, a resolver', [keyed, erasure, resolver], [2, 1, 1], {
    ...keyedBefore,
    begun: 'documents.record',
  }),
  erasureDeletion: scenario('an erasure, a deletion, a cleaner', [erasure, deletion, cleaner], [2, 1, 1], keyedBefore),
  erasureExpiry: scenario(
    'an erasure, an expiry, its promotion again',
    [erasure, resolver, expiring],
    [2, 1, 1],
    expired,
  ),
  erasureRepair: scenario('an erasure, a repair, a promotion', [erasure, repair, plain], [2, 1, 1], keyedBefore),
  erasureAudit: scenario('an erasure, an audit, a deletion', [erasure, audit, deletion], [3, 0, 0], keyedBefore),
  erasures: scenario('two runs of an erasure, a promotion', [erasure, erasure, plain], [2, 1, 1], keyedBefore),
  recording: scenario('a record, its deletion, a resolver', [keyed, deletion, resolver], [2, 1, 1], {
    begun: 'documents.record',
  }),
  copying: scenario('a copy, a twin, a resolver', [keyed, keyed, resolver], [2, 1, 1], { begun: 'CopyObject' }),
  wrongOne: scenario('wrong leases: a promotion, two resolvers', [plain, resolver, resolver], [2, 1, 2], wrongly),
  wrongTwins: scenario('wrong leases: twins, a resolver', [keyed, keyed, resolver], [2, 1, 1], wrongly),
  wrongDeletion: scenario('wrong leases: a promotion, its deletion', [keyed, deletion, resolver], [2, 1, 1], wrongly),
  wrongDeletions: scenario('wrong leases: two deletions', [deletion, deletion, resolver], [2, 1, 1], {
    ...keyedBefore,
    ...wrongly,
  }),
}

/** Brings about what stands when the scenario begins. */
export async function prepare({ before, leftMs = 0, hasLateRefund }: Scenario, world: World): Promise<void> {
  if (!before) return
  const request = before === 'expired' || before === 'buried' ? expiring : keyed
  await world.run(0, request)
  if (request === expiring) await world.apply({ do: 'pass', ms: EXPIRES_IN_SECONDS * 1000 - leftMs })
  if (before === 'buried') await world.run(1, resolver)
  if (before === 'forgotten') {
    await world.run(1, deletion)
    await world.apply({ do: 'pass', ms: leftMs > 0 ? DAY_MS - leftMs : DAY_MS + LEASE_MS })
  }
  if (hasLateRefund) await world.stores.putLateRefund()
  world.processes.clear()
}
