import type { AttemptId } from '../../../lib/ids.ts'
import { documentIdOfKey } from '../../../lib/promotion/idempotency.ts'
import { LEASE_MS } from '../../support/ports.ts'
import type { Fate } from './process.ts'
import type { Request } from './requests.ts'
import { type Circumstances, workspaceOf } from './stores.ts'
import type { World } from './world.ts'

/** What takes part in a scenario; a deletion and a change are of the newest document. */
export type Role =
  | Exclude<Request, { document: object } | { do: 'list' }>
  | { do: 'delete' }
  | { do: 'change_expiry'; seconds?: number; aheadMs?: number }

/** What a schedule may contain. */
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
  /** What stands when it begins: a document, made with a key; two; one, and the note of a deletion that died; one with a key that has expired; one whose marker is back from a backup; a fence against the key. */
  before?: 'keyed' | 'two' | 'noted' | 'expired' | 'restored' | 'tombstone'
  /** The call that the first role has come to, for the nth time. */
  begun?: readonly [call: string, nth?: number]
  /** Of one that is to have expired: how long before that. */
  leftMs?: number
  roles: readonly Role[]
  bounds: Bounds
  /** The faults that are tried; left out: all. */
  fates?: readonly Fate[]
  /** Bytes that the ledger counts too many, or too few. */
  drift?: number
  /** Nobody undoes anything beside the resolver. */
  isResolverAlone?: true
}

type Circumstance = Omit<Scenario, 'name' | 'roles' | 'bounds'>

export const WORKSPACE = workspaceOf(0)
export const KEYED = { workspaceId: WORKSPACE, documentId: documentIdOfKey(WORKSPACE, 'key-0') }

const plain = { do: 'promote', workspace: 0, file: 0 } as const
const keyed = { ...plain, key: 0 }
const many = { ...keyed, amongMany: true } as const
const deletion: Role = { do: 'delete' }
const resolver: Role = { do: 'resolve' }
const expiry: Role = { do: 'expire' }
/** By a process to which the document has not expired yet. */
const prolonging: Role = { do: 'change_expiry', aheadMs: -60_000 }
const EXPIRES_IN_SECONDS = 200
const expiring = { ...keyed, expiresInSeconds: EXPIRES_IN_SECONDS }
const audit: Role = { do: 'audit', findsDriftOnly: true }
const wrongly: Circumstance = { areLeasesWrong: true }
const claimed: Circumstance = { ...wrongly, begun: ['ledger.take'] }
const amidPages: Circumstance = { before: 'two', begun: ['documents.listItems', 2] }
const expired: Circumstance = { before: 'expired' }
const longer = { ...keyed, expiresInSeconds: 7200 }
const recording: Circumstance = { begun: ['documents.record'] }
const drifted = (drift: number): Circumstance => ({ before: 'keyed', drift })

const scenario = (
  name: string,
  roles: Role[],
  [switches, faults, times]: readonly [number, number, number],
  more: Circumstance = {},
): Scenario => ({ name, roles, bounds: { switches, faults, times }, ...more })

export const SCENARIOS = {
  alone: scenario('a plain promotion, a resolver', [plain, resolver], [1, 2, 2], { isResolverAlone: true }),
  plain: scenario('a plain promotion, two resolvers', [plain, resolver, resolver], [1, 1, 2]),
  keyed: scenario('a promotion with an Idempotency-Key, two resolvers', [keyed, resolver, resolver], [1, 1, 2]),
  twins: scenario('two promotions with one key', [keyed, keyed, resolver], [1, 1, 2]),
  many: scenario('two requests for many files with the same one', [many, many, resolver], [1, 1, 2]),
  manyDeletion: scenario('a file among many, its deletion', [many, deletion, resolver], [2, 1, 1]),
  wrongMany: scenario('wrong leases: a file among many, twice', [many, many, resolver], [2, 0, 2], wrongly),
  crowd: scenario('two promotions, room for one', [plain, keyed, resolver], [2, 1, 1], { quotaBytes: 10 }),
  small: scenario('two promotions, room for one taking', [plain, keyed, resolver], [1, 1, 0], { maxTakings: 1 }),
  deletions: scenario('two deletions of a document', [deletion, deletion, resolver], [2, 1, 1], { before: 'keyed' }),
  deletion: scenario('a deletion', [deletion, resolver], [1, 2, 2], { before: 'keyed' }),
  noted: scenario('a deletion after one that died', [deletion, resolver], [1, 1, 2], { before: 'noted' }),
  keyedDeletion: scenario('a promotion with a key, its deletion', [keyed, deletion, resolver], [2, 1, 1]),
  later: scenario('a promotion in a workspace that is due', [plain, resolver], [1, 1, 2], { before: 'keyed' }),
  again: scenario('a deletion, its promotion again', [deletion, keyed, resolver], [2, 1, 1], { before: 'keyed' }),
  tombstone: scenario('a promotion, a fence of its twin', [keyed, resolver], [1, 2, 1], { before: 'tombstone' }),
  restored: scenario('a deletion after a backup', [deletion, resolver], [2, 2, 1], { before: 'restored' }),
  wrongPlain: scenario('wrong leases: a plain promotion', [plain, resolver], [2, 1, 1], wrongly),
  wrongTwice: scenario('wrong leases: a promotion, two resolvers', [plain, resolver, resolver], [1, 0, 2], wrongly),
  wrongKeyed: scenario('wrong leases: a promotion with a key', [keyed, resolver], [2, 1, 1], wrongly),
  wrongTwins: scenario('wrong leases: two promotions with one key', [keyed, keyed, resolver], [3, 0, 2], wrongly),
  wrongTakeover: scenario('wrong leases: a claim and a twin', [keyed, keyed, resolver], [1, 1, 1], claimed),
  wrongDeletion: scenario('wrong leases: a promotion, its deletion', [plain, deletion, resolver], [2, 1, 1], wrongly),
  expiry: scenario('an expiry, a resolver', [expiry, resolver], [1, 2, 2], expired),
  expiries: scenario('two expiries of a document', [expiry, expiry, resolver], [2, 1, 1], expired),
  prolonged: scenario('an expiry, its change', [expiry, prolonging, resolver], [2, 1, 1], expired),
  expiryDeletion: scenario('an expiry, a deletion', [expiry, deletion, resolver], [2, 1, 1], expired),
  expiryAgain: scenario('an expiry, its promotion again', [expiry, keyed, resolver], [2, 1, 1], expired),
  expiredTwins: scenario('two promotions of what has expired', [expiring, expiring, resolver], [1, 1, 1], expired),
  expiredAudit: scenario('a promotion of what has expired, an audit', [longer, audit], [2, 1, 0], expired),
  expiredPages: scenario('a promotion of what has expired, an audit of pages', [audit, longer], [2, 0, 0], {
    ...expired,
    begun: ['documents.listItems'],
  }),
  kept: scenario('a promotion that keeps for longer', [longer, expiry, resolver], [2, 1, 2], {
    ...expired,
    leftMs: 150_000,
  }),
  keptTwins: scenario('two of them, too late', [longer, longer, expiry], [1, 2, 1], { ...expired, leftMs: 40_000 }),
  expiryMany: scenario('a file among many that expires', [{ ...many, ...expiring }, expiry, resolver], [1, 1, 2]),
  wrongExpiry: scenario('wrong leases: a promotion, its expiry', [expiring, expiry, resolver], [2, 1, 1], wrongly),
  expiryAudit: scenario('an expiry, an audit', [expiry, audit], [2, 1, 0], expired),
  audit: scenario('a promotion with a key, its deletion, an audit', [keyed, deletion, audit], [2, 1, 0]),
  plainAudit: scenario('a plain promotion, its deletion, an audit', [plain, deletion, audit], [2, 1, 0]),
  promotionAudit: scenario('a promotion with a key, an audit', [keyed, audit], [2, 1, 0]),
  deletionAudit: scenario('a deletion, an audit', [deletion, audit], [2, 1, 0], { before: 'keyed' }),
  pages: scenario('a promotion, its deletion, an audit of pages', [audit, plain, deletion], [1, 0, 0], amidPages),
  recording: scenario('a record, its deletion, an audit', [keyed, deletion, audit], [2, 1, 0], recording),
  drift: scenario('a promotion, two audits, too many bytes', [plain, audit, audit], [2, 0, 0], drifted(7)),
  negativeDrift: scenario('a promotion, two audits, too few bytes', [plain, audit, audit], [2, 0, 0], drifted(-7)),
}

const DAY_MS = 24 * 60 * 60 * 1000
const { signal } = new AbortController()

/** Brings about what stands when the scenario begins. */
export async function prepare({ before, drift = 0, leftMs = 0 }: Scenario, world: World): Promise<void> {
  const { stores } = world
  if (before === 'tombstone') {
    const dead = { ...KEYED, attemptId: '1'.repeat(22) as AttemptId }
    await stores.documents.fence({ ...dead, sizeBytes: 10, objectKey: '', leaseExpiresAtMs: 0 }, signal)
    stores.nowMs += DAY_MS - 30_000
  } else if (before) {
    for (const _ of before === 'two' ? [1, 2] : [1]) {
      const request = { keyed, expired: expiring, two: plain, noted: plain, restored: plain }[before]
      await world.apply({ do: 'begin', process: 0, request })
      await world.goOn()
    }
    if (before === 'expired') await world.apply({ do: 'pass', ms: EXPIRES_IN_SECONDS * 1000 - leftMs })
  }
  const [document] = stores.timeline.all
  if (before === 'noted' && document) {
    await world.apply({ do: 'begin', process: 0, request: { do: 'delete', document } })
    await world.goOn(({ waiting }) => waiting[0]?.name === 'ledger.schedule')
  }
  const workspace = stores.ledger.workspaces.get(WORKSPACE)
  if (before === 'restored' && document && workspace) {
    workspace.takings.set(document.attemptId, { ...document, leaseExpiresAtMs: stores.nowMs + LEASE_MS })
    workspace.checkDueAtMs = stores.nowMs + LEASE_MS
  }
  world.processes.clear()
  if (drift !== 0) await world.apply({ do: 'drift', workspace: 0, bytes: drift })
}
