import { type AttemptId, documentIdOfAttempt, type RefundId, type WorkspaceId, withoutPrefix } from '../../ids.ts'
import type {
  Counts,
  Erasure,
  Hold,
  Refund,
  StorageUsage,
  WorkspaceLedger,
  WorkspaceSettings,
} from '../../ledger/ports/ledger.ts'
import { type Attributes, type Codec, decode, decodeMap, encode } from './codec.ts'

/** An item of the Workspaces table: what is counted, and the holds and refunds under way. */
interface WorkspaceItem extends Omit<WorkspaceLedger, 'usedBytes' | 'holds' | 'refunds' | 'erasure'> {
  /** The quota less what is counted. Stored because conditions cannot do arithmetic. */
  remainingBytes: number
  /** By attempt id. */
  holds: Record<string, unknown>
  /** By refund id. */
  refunds: Record<string, unknown>
  /** The version before an audit's last correction. */
  correctedIn?: number
  erasure?: Record<string, unknown>
  /** When the erasure's next step is due; the key of the index `erasures`. */
  erasureDueAtMs?: number
}

const OPTIONAL = { isOptional: true } as const

const SETTINGS = {
  quota_bytes: { member: 'quotaBytes', kind: 'number' },
  expire_after: { member: 'expireAfterSeconds', kind: 'number', ...OPTIONAL },
  expire_at_most: { member: 'expireAtMostSeconds', kind: 'number', ...OPTIONAL },
  per_minute: { member: 'requestsPerMinute', kind: 'number', ...OPTIONAL },
  disabled: { member: 'isDisabled', kind: 'true', ...OPTIONAL },
  label: { member: 'label', kind: 'string', ...OPTIONAL },
} as const satisfies Codec<WorkspaceSettings>

export const WORKSPACE = {
  workspace_id: { member: 'workspaceId', kind: 'string' },
  created_at: { member: 'createdAt', kind: 'ms' },
  remaining_bytes: { member: 'remainingBytes', kind: 'number' },
  documents: { member: 'documents', kind: 'number' },
  version: { member: 'version', kind: 'number' },
  holds: { member: 'holds', kind: 'map' },
  refunds: { member: 'refunds', kind: 'map' },
  corrected_in: { member: 'correctedIn', kind: 'number', ...OPTIONAL },
  erasure: { member: 'erasure', kind: 'map', ...OPTIONAL },
  erasure_due_at: { member: 'erasureDueAtMs', kind: 'number', ...OPTIONAL },
  ...SETTINGS,
} as const satisfies Codec<WorkspaceItem>

type Entry = Omit<Hold, 'workspaceId' | 'documentId'> & { idOfDocument?: string }

/** One-letter names: each byte is written with every promotion of the workspace. */
export const HOLD = {
  n: { member: 'sizeBytes', kind: 'number' },
  l: { member: 'leaseEndsAtMs', kind: 'number' },
  // The document's id without its prefix, unless it is derived from the attempt's.
  d: { member: 'idOfDocument', kind: 'string', ...OPTIONAL },
} as const satisfies Codec<Entry>

export const REFUND = { ...HOLD, a: { member: 'attemptId', kind: 'string' } } as const satisfies Codec<Entry>

const toEntry = ({ documentId, ...entry }: Hold): Entry =>
  documentId === documentIdOfAttempt(entry.attemptId) ? entry : { ...entry, idOfDocument: withoutPrefix(documentId) }

export const encodeHold = (hold: Hold) => encode<Entry>(HOLD, toEntry(hold))
export const encodeRefund = (refund: Refund) => encode<Entry>(REFUND, toEntry(refund))

const ERASURE = {
  state: { member: 'state', kind: 'string' },
  requested_at: { member: 'requestedAtMs', kind: 'number' },
  begins_at: { member: 'beginsAtMs', kind: 'number' },
  used_bytes: { member: 'usedBytes', kind: 'number', ...OPTIONAL },
  documents: { member: 'documents', kind: 'number', ...OPTIONAL },
  ended_at: { member: 'endedAtMs', kind: 'number', ...OPTIONAL },
  verified_at: { member: 'verifiedAtMs', kind: 'number', ...OPTIONAL },
  refused: { member: 'refused', kind: 'number', ...OPTIONAL },
  reason: { member: 'reason', kind: 'string', ...OPTIONAL },
  denied_sandbox: { member: 'deniedSandbox', kind: 'string', ...OPTIONAL },
} as const satisfies Codec<Erasure>

/** The attributes of the ledger that an erasure is; all undefined: there is none. */
export const encodeErasure = (erasure: Erasure | undefined) => ({
  erasure: erasure && encode<Erasure>(ERASURE, erasure),
  erasure_due_at: erasure?.dueAtMs,
  erasure_due: erasure?.dueAtMs === undefined ? undefined : 'due',
})

/** Encodes only the members that `of` has, undefined or not. */
export function encodeSettings(settings: Partial<WorkspaceSettings>, of: object = settings): Record<string, unknown> {
  const encoded = Object.entries(encode<Partial<WorkspaceSettings>>(SETTINGS, settings))
  return Object.fromEntries(encoded.filter(([name]) => SETTINGS[name as keyof typeof SETTINGS].member in of))
}

/**
 * Versions start at the clock, in ms: an item takes fewer than 1,000 writes a second, so when a workspace is made
 * again, its versions are later than any that its former documents mention.
 */
export function encodeNewWorkspace(
  workspaceId: WorkspaceId,
  { nowMs, usedBytes = 0, documents = 0, ...settings }: WorkspaceSettings & { nowMs: number } & Partial<Counts>,
) {
  const remainingBytes = settings.quotaBytes - usedBytes
  const empty = { remainingBytes, documents, version: nowMs, createdAt: new Date(nowMs), holds: {}, refunds: {} }
  return encode<WorkspaceItem>(WORKSPACE, { workspaceId, ...settings, ...empty })
}

/** @throws UnreadableItemError */
export function decodeUsage(attributes: Attributes): StorageUsage {
  const { quotaBytes, usedBytes } = decodeLedger(attributes)
  return { quotaBytes, usedBytes }
}

/** @throws UnreadableItemError */
export function decodeLedger(attributes: Attributes): WorkspaceLedger {
  const decoded = decode<WorkspaceItem>(WORKSPACE, attributes)
  const { remainingBytes, correctedIn: _, erasure, erasureDueAtMs: dueAtMs, ...item } = decoded
  const { workspaceId } = item
  const entryOf = (codec: Codec<Entry>, id: string, stored: unknown, kind: string) => {
    const name = `${kind} ${id} of workspace ${workspaceId}`
    const { attemptId = id as AttemptId, idOfDocument, ...rest } = decodeMap<Entry>(codec, stored, name)
    const documentId = documentIdOfAttempt((idOfDocument as AttemptId | undefined) ?? attemptId)
    return { workspaceId, documentId, attemptId, ...rest }
  }
  return {
    ...item,
    usedBytes: item.quotaBytes - remainingBytes,
    erasure: erasure && { ...decodeMap<Erasure>(ERASURE, erasure, `the erasure of workspace ${workspaceId}`), dueAtMs },
    holds: Object.entries(item.holds).map(([id, hold]) => entryOf(HOLD, id, hold, 'hold')),
    refunds: Object.entries(item.refunds).map(([id, refund]) => ({
      ...entryOf(REFUND, id, refund, 'refund'),
      refundId: id as RefundId,
    })),
  }
}
