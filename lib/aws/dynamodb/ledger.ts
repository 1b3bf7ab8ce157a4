import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { ServiceError } from '../../errors.ts'
import type { WorkspaceId } from '../../ids.ts'
import type { Hold, HoldKey, Ledger, RefundKey, WorkspaceLedger } from '../../ledger/ports/ledger.ts'
import { isThrottled } from '../calls/failures.ts'
import { CLOSING, SENT_ONCE, send } from '../calls/send.ts'
import { getItem, putItem, type Table, type Update, updateItem, updateOf, written } from './table.ts'
import { decodeLedger, decodeUsage, encodeHold, encodeNewWorkspace, encodeRefund } from './workspace-codec.ts'

export interface LedgerSettings extends Table {
  defaultQuotaBytes: number
  now(): number
}

/** With so many holds, the item is below 1 KB and a write costs one unit (docs/decisions/0002-quota-ledger.md). */
export const MAX_HOLDS = 12
const LONGEST_ID_WITH_ALL = 40
/** A hold in the item, with its document's id. */
const HOLD_BYTES = 67
/** Refunds have places of their own, so they do not wait for holds. */
export const MAX_REFUNDS = 7
/** No live hold or refund lasts this long: older ones are leftovers of dead processes and take up no place. */
export const LEFTOVER_MS = 10_000
/** Leftovers stay until somebody cleans them; this many make the item 4 KB. */
const MAX_LEFTOVERS = 40
/** About ten tries in the six seconds for which a promotion is patient. */
const LONGEST_PAUSE_MS = { holds: 1300, refunds: 65 }
/** Retried without a pause: these writes free places, and would lose to the holds that wait for a place. */
const SOON = { ...CLOSING, longestPauseMs: 1 } as const

// An entry is a hold, by its attempt's id, or a refund, by its own.
const COUNT_CHANGE = 'ADD version :one'
const COUNT_BYTES = 'SET remaining_bytes = remaining_bytes - :size_bytes, documents = documents + :one'
const ADD_ENTRY = '#entries.#entry = :entry'
/** Whose erasure was asked for is closed. */
export const IS_OPEN = 'attribute_not_exists(erasure)'
const HAS_PLACE = 'attribute_not_exists(#entries.#entry) AND size(#entries) < :most'
const IS_THERE = 'attribute_exists(#entries.#entry)'
const REMOVE_ENTRY = 'REMOVE #entries.#entry'
/** The amount comes from the entry itself, so it is always what was counted. */
const RETURN_BYTES = 'SET remaining_bytes = remaining_bytes + #entries.#entry.n, documents = documents - :one'

type Kind = 'holds' | 'refunds'
type EntryNames = Record<string, string>

/** A long workspace id takes the room of some holds. */
function mostHolds(workspaceId: WorkspaceId): number {
  return MAX_HOLDS - Math.max(0, Math.ceil((workspaceId.length - LONGEST_ID_WITH_ALL) / HOLD_BYTES))
}

export function createLedger(table: LedgerSettings): Ledger {
  const keyOf = ({ workspaceId }: { workspaceId: WorkspaceId }) => ({ workspace_id: workspaceId })
  const holdNames = ({ attemptId }: HoldKey) => ({ '#entries': 'holds', '#entry': attemptId })
  const refundNames = ({ refundId }: RefundKey) => ({ '#entries': 'refunds', '#entry': refundId })

  return {
    async read(workspaceId, signal) {
      const item = await getItem(table, keyOf({ workspaceId }), { name: 'ledger.read', signal })
      return item && decodeLedger(item)
    },

    async usage(workspaceId, signal) {
      const read = { ConsistentRead: false }
      const item = await getItem(table, keyOf({ workspaceId }), { name: 'ledger.read', signal }, read)
      return item && decodeUsage(item)
    },

    async hold(hold, signal, retryForMs) {
      const tryToHold = () =>
        open('holds', hold, signal, retryForMs, {
          UpdateExpression: `${COUNT_BYTES}, ${ADD_ENTRY} ${COUNT_CHANGE}`,
          ConditionExpression: `remaining_bytes >= :size_bytes AND ${IS_OPEN} AND ${HAS_PLACE}`,
          ExpressionAttributeNames: holdNames(hold),
          values: { ':size_bytes': hold.sizeBytes, ':entry': encodeHold(hold) },
        })
      let written = await tryToHold()
      if (written !== 'throttled' && !written.item) {
        await makeWorkspace(hold.workspaceId, signal)
        written = await tryToHold()
      }
      if (written === 'throttled' || !written.item) return { outcome: 'crowded' }
      const ledger = decodeLedger(written.item)
      if (written.applied) return { outcome: 'held', ledger }
      if (ledger.erasure) return { outcome: 'closed', ledger }
      return { outcome: hasRoom(ledger, hold) ? 'crowded' : 'quota_exceeded', ledger }
    },

    async capture(hold, signal) {
      await close('capture', hold, REMOVE_ENTRY, holdNames(hold), signal)
    },

    async void(hold, signal) {
      await close('void', hold, `${RETURN_BYTES} ${REMOVE_ENTRY}`, holdNames(hold), signal)
    },

    async beginRefund(refund, signal, retryForMs) {
      const written = await open('refunds', refund, signal, retryForMs, {
        UpdateExpression: `SET ${ADD_ENTRY} ${COUNT_CHANGE}`,
        ConditionExpression: HAS_PLACE,
        ExpressionAttributeNames: refundNames(refund),
        values: { ':entry': encodeRefund(refund) },
      })
      if (written === 'throttled') return 'crowded'
      // An item made now would free bytes that it never counted.
      if (!written.item) throw new Error(`workspace ${refund.workspaceId} has no ledger: it needs an audit`)
      return written.applied ? { refundVersion: decodeLedger(written.item).version } : 'crowded'
    },

    async cancelRefund(refund, signal) {
      await close('cancelRefund', refund, REMOVE_ENTRY, refundNames(refund), signal)
    },

    async payRefund(refund, signal) {
      // The document's hold may not have been captured.
      const change = `${RETURN_BYTES} ${REMOVE_ENTRY}, holds.#attempt`
      const names = { ...refundNames(refund), '#attempt': refund.attemptId }
      const { applied, item = {} } = await close('payRefund', refund, change, names, signal)
      return applied ? decodeUsage(item) : undefined
    },
  }

  /** A write that may be repeated: without its entry, it changes nothing. */
  function close(name: string, of: HoldKey, change: string, names: EntryNames, signal: AbortSignal) {
    const update: Update = {
      UpdateExpression: `${change} ${COUNT_CHANGE}`,
      ConditionExpression: IS_THERE,
      ExpressionAttributeNames: names,
      values: { ':one': 1 },
      ReturnValues: 'ALL_NEW',
    }
    return updateItem(table, keyOf(of), update, { name: `ledger.${name}`, signal, ...SOON })
  }

  /** Retries while all places are taken: at once if leftovers take some, which the retry ignores; else after a pause. */
  async function open(kind: Kind, entry: Hold, signal: AbortSignal, retryForMs: number, change: Update) {
    const most = kind === 'holds' ? mostHolds(entry.workspaceId) : MAX_REFUNDS
    const commandIgnoring = (leftovers: number) => {
      const values = { ...change.values, ':one': 1, ':most': most + leftovers }
      return updateOf(table, keyOf(entry), { ...change, values, ReturnValues: 'ALL_NEW' })
    }
    let ignored = 0
    const retryOf = async (error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException) || !error.Item) return undefined
      const ledger = decodeLedger(error.Item)
      if (kind === 'holds' && (ledger.erasure || !hasRoom(ledger, entry))) return undefined
      const leftovers = leftoversIn(ledger[kind], entry)
      const isAtOnce = leftovers > ignored
      ignored = leftovers
      return { command: commandIgnoring(leftovers), isAtOnce }
    }
    const name = kind === 'holds' ? 'ledger.hold' : 'ledger.beginRefund'
    const options = { name, signal, ...SENT_ONCE, retryForMs, longestPauseMs: LONGEST_PAUSE_MS[kind], retryOf }
    return written(send(table.client, commandIgnoring(0), options)).catch((error) => {
      // Then it was certainly not applied.
      if (isThrottled(error)) return 'throttled' as const
      throw error
    })
  }

  async function makeWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const isNew = { ConditionExpression: 'attribute_not_exists(workspace_id)' }
    const item = encodeNewWorkspace(workspaceId, { quotaBytes: table.defaultQuotaBytes, nowMs: table.now() })
    try {
      await putItem(table, item, { name: 'ledger.makeWorkspace', signal }, isNew)
    } catch (error) {
      if (!isThrottled(error)) throw error
      // The table is overloaded, not the workspace, so nobody is told to promote less.
      throw new ServiceError('service_unavailable', { cause: new Error('no workspace was made', { cause: error }) })
    }
  }
}

const hasRoom = ({ quotaBytes, usedBytes }: WorkspaceLedger, { sizeBytes }: Hold) => quotaBytes - usedBytes >= sizeBytes

/** How many of these were left by dead processes, up to the most that extra places are given for. */
function leftoversIn(entries: readonly Hold[], { leaseEndsAtMs }: Hold): number {
  const leftovers = entries.filter((each) => each.leaseEndsAtMs < leaseEndsAtMs - LEFTOVER_MS)
  return Math.min(leftovers.length, MAX_LEFTOVERS)
}
