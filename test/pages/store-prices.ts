import { marshall } from '@aws-sdk/util-dynamodb'
import { FINDING_KINDS } from '../../lib/audit/findings.ts'
import { toUpdate } from '../../lib/aws/dynamodb/document-item.ts'
import { newWorkspaceItem } from '../../lib/aws/dynamodb/workspace-item.ts'
import { REASONS } from '../../lib/errors.ts'
import type { ContainerId, FilePath } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { METRICS } from '../../lib/metrics.ts'
import { ASSUMPTIONS, PRICES } from '../bench/prices.ts'
import { namesOf, QUOTA_BYTES, workspaceIdOf } from '../bench/scale/population.ts'
import { OPERATIONS } from '../support/api/operations.ts'
import { type Item, itemSizeBytes } from '../support/dynamodb/capacity.ts'

/** What docs/scale.md takes for granted. */
export const SCALE = {
  documentsOfWorkspace: 10_000,
  /** A document is kept for so long: as many are promoted and deleted in a month as that makes. */
  monthsKept: 12,
  documentMib: 1,
  keysOfWorkspace: 2,
  /** DynamoDB removes what is expired within some days. */
  tombstoneDays: 3,
  versionDays: 30,
  /** A file is promoted once, and expires with its sandbox. */
  sandboxDays: 30,
  /** With sandboxVersions, the day that former versions are kept, and the one until S3 has removed them. */
  formerSandboxDays: 2,
  logDays: 90,
  /** Of promotions that fail, and leave notes for a quarter of an hour, or a day. */
  failedShare: 0.001,
  /** One promotion in this many is the first in its workspace for two minutes. */
  promotionsOfBusyTime: 10,
}

const ALWAYS = [METRICS, FINDING_KINDS, OPERATIONS].reduce((count, names) => count + Object.keys(names).length, 0)
/** As CloudWatch bills them: each name, and each value of a second dimension; of the reasons, those that occur. */
export const METRIC_COUNT = { least: ALWAYS, most: ALWAYS + Object.keys(REASONS).length }

/** As measured (npm run bench -- scale), without its documents. */
const UNITS_OF_AUDITED_WORKSPACE = 9
const AUDIT = { readsPerSecond: 2000, instances: 8, gib: 0.5 }
const GB = 1e9
const SECONDS_OF_MONTH = 30 * 24 * 3600
/** Amazon DynamoDB developer guide, "Item sizes and formats": what storage counts beyond the item, and for each index. */
const OVERHEAD_BYTES = 100

/** Of a ledger: it begins with the clock, and zeros at its end take no room. */
const VERSION = 1_795_330_458_777

const ids = { workspaceId: workspaceIdOf(1), ...namesOf(1, 1) }
const { keys, values } = toUpdate({
  ...ids,
  filename: 'output/report-2026-10-01.csv' as FilePath,
  mimeType: 'text/csv',
  sizeBytes: 1_048_576,
  createdAt: new Date('2026-10-01T12:00:00Z'),
  expiresAt: undefined,
  containerId: 'sess_demo-r4k2' as ContainerId,
  contentEncoding: undefined,
  sourceEtag: '"1bc29b36f623ba82aaf6724fd3b16718"',
  sha256: 'a'.repeat(64),
  createdBy: 'key_0190a1b2',
  countedFrom: VERSION,
} satisfies Required<WorkspaceDocument>)
const attributes = Object.fromEntries(Object.entries(values).map(([name, value]) => [name.slice(1), value]))
const only = (...names: string[]) => Object.fromEntries(names.map((name) => [name, attributes[name]]))
const sizeOf = (item: object) => itemSizeBytes(marshall(item) as Item)

/** As they are stored, in bytes. */
export const ITEM_BYTES = {
  document: sizeOf({ ...keys, ...attributes }),
  listing: sizeOf({ ...keys, ...only('listed_at', 'filename', 'mime_type', 'size_bytes', 'created_at') }),
  expiry: sizeOf({ ...keys, due_shard: '15', due_at: 1_790_000_000_000 }),
  tombstone: sizeOf({
    ...keys,
    ...only('attempt_id', 'object_key', 'created_at', 'size_bytes', 'counted_from'),
    record_kind: 'tombstone',
    released_by: ids.attemptId,
    marked_in: VERSION,
    ttl_at: 1_790_000_000,
  }),
  workspace: sizeOf({ ...newWorkspaceItem(ids.workspaceId, QUOTA_BYTES), version: VERSION }),
  key: sizeOf({
    token_hash: 'a'.repeat(64),
    key_id: 'key_0190a1b2',
    workspace_id: ids.workspaceId,
    kind: 'standard',
    permissions: ['files:promote', 'files:read'],
    status: 'enabled',
    created_at: '2026-10-01T12:00:00.000Z',
  }),
  rateLimit: sizeOf({ key_id: 'key_0190a1b2', tat_ms: 1_790_000_000_000, ttl_at: 1_790_000_000 }),
  reservation: sizeOf({
    ...keys,
    ...only('attempt_id', 'object_key', 'size_bytes'),
    reservation_id: ids.documentId,
    purpose: 'promotion',
    lease_expires_at: 1_790_000_000_000,
  }),
  check: sizeOf({ workspace_id: ids.workspaceId, check_shard: '15', check_due_at: 1_790_000_000_000 }),
}

const table = (items: number, bytes: number) =>
  ((items * (bytes + OVERHEAD_BYTES)) / GB) * (PRICES.dynamoDbStorageGb + PRICES.dynamoDbRecoveryGb)
const index = (items: number, bytes: number) => ((items * (bytes + OVERHEAD_BYTES)) / GB) * PRICES.dynamoDbStorageGb

/** Dollars a month of each store and stream of docs/scale.md, by its name there. */
export function storePrices(workspaces: number): Record<string, number> {
  const documents = workspaces * SCALE.documentsOfWorkspace
  const perMonth = documents / SCALE.monthsKept
  const perSecond = perMonth / SECONDS_OF_MONTH
  const perDay = perMonth / 30
  const objectGb = SCALE.documentMib * 1.048_576e-3
  const keyCount = workspaces * SCALE.keysOfWorkspace
  const logGb = (perMonth * ASSUMPTIONS.logBytes) / GB
  return {
    'Workspaces, items': table(workspaces, ITEM_BYTES.workspace),
    'index `checks`': index((perSecond / SCALE.promotionsOfBusyTime) * 120, ITEM_BYTES.check),
    Reservations: table(perSecond * 2 + perSecond * SCALE.failedShare * 900, ITEM_BYTES.reservation),
    'Documents, documents': table(documents, ITEM_BYTES.document),
    'index `documents-by-creation`': index(documents, ITEM_BYTES.listing),
    'index `expiries`, if all expire': index(documents, ITEM_BYTES.expiry),
    'Documents, tombstones': table(perDay * SCALE.tombstoneDays, ITEM_BYTES.tombstone),
    'Documents, tombstones of attempts': table(perDay * SCALE.failedShare * SCALE.tombstoneDays, ITEM_BYTES.tombstone),
    Keys: table(keyCount, ITEM_BYTES.key),
    RateLimits: table(keyCount, ITEM_BYTES.rateLimit),
    'objects, current': documents * objectGb * PRICES.s3StorageGb,
    'objects, former versions': perDay * SCALE.versionDays * objectGb * PRICES.s3StorageGb,
    'sandboxes, current': perDay * SCALE.sandboxDays * objectGb * PRICES.s3StorageGb,
    'sandboxes, former versions': perDay * SCALE.formerSandboxDays * objectGb * PRICES.s3StorageGb,
    'log groups': logGb * GB * PRICES.logByte + ((logGb * SCALE.logDays) / 30) * PRICES.logStorageGb,
    metrics: METRIC_COUNT.most * PRICES.metric,
    'the audit, each day': 30 * auditDollars(workspaces, documents),
  }
}

/** Of one round: what it reads, and its instances at the configured rate of reads (docs/settings.md). */
function auditDollars(workspaces: number, documents: number): number {
  const units = (documents * ITEM_BYTES.document) / 4096 + workspaces * UNITS_OF_AUDITED_WORKSPACE
  const lists = documents / 1000
  const gibSeconds = ((units + lists) / AUDIT.readsPerSecond) * AUDIT.instances * AUDIT.gib
  return units * PRICES.dynamoDbReadUnit + lists * PRICES.s3WriteRequest + gibSeconds * PRICES.lambdaGibSecond
}

/** Eight runs of the resolver a minute; what they and the audit publish, the audit in one hour of a day. */
const IDLE = { runs: 8 * 60 * 24 * 30, seconds: 0.02, gib: 1769 / 1024, logBytes: 1600, transitions: 30 * (6 + 8 * 4) }
const countMetrics = (names: RegExp) => Object.keys(METRICS).filter((name) => names.test(name)).length
const IDLE_METRICS =
  countMetrics(/^(Reservations|OldestLeftover)/) + (countMetrics(/^Audit/) + FINDING_KINDS.length) / 24

/** Dollars a month when nobody calls, by the rows of docs/cost.md; the alarms are counted in their template. */
export function idlePrices(): Record<string, number> {
  const { lambdaRequest, lambdaGibSecond, dynamoDbReadUnit, logByte, trace } = PRICES
  // Four queries, two of each index, eventually consistent.
  const calls = lambdaRequest + 4 * 0.5 * dynamoDbReadUnit + IDLE.logBytes * logByte + trace
  return {
    Resolver: IDLE.runs * (IDLE.seconds * IDLE.gib * lambdaGibSecond + calls),
    Audit: IDLE.transitions * PRICES.stepFunctionsTransition,
    'Custom metrics': IDLE_METRICS * PRICES.metric,
    Dashboard: PRICES.dashboard,
  }
}

/** Dollars of a million files of 1 MiB in a sandbox, by the rows of docs/cost.md. */
export function sandboxPrices(): Record<string, number> {
  const gbMonths = ((1e6 * SCALE.documentMib * 1.048_576e-3) / 30) * PRICES.s3StorageGb
  return {
    Writing: 1e6 * PRICES.s3WriteRequest,
    Keeping: gbMonths * SCALE.sandboxDays,
    Expiring: 0,
    'Overwriting, with `sandboxVersions`': 1e6 * PRICES.s3WriteRequest + gbMonths * SCALE.formerSandboxDays,
  }
}

/** Promotions a second at that size. */
export const promotionsPerSecond = (workspaces: number) =>
  (workspaces * SCALE.documentsOfWorkspace) / SCALE.monthsKept / SECONDS_OF_MONTH
