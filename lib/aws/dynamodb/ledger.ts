import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { ServiceError } from '../../errors.ts'
import type { WorkspaceId } from '../../ids.ts'
import type { Ledger, Marker, Release, Taking } from '../../ledger/ports/ledger.ts'
import { isThrottled } from '../calls/failures.ts'
import { CLOSING, SENT_ONCE, send } from '../calls/send.ts'
import { openTable, type TableSettings, type Update, unlessThrottled, written } from './table.ts'
import { decodeLedger, decodeUsage, encodeNewWorkspace, encodeRelease, encodeTaking } from './workspace-codec.ts'

export interface LedgerSettings extends TableSettings {
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
  now(): number
}

/** With so many takings, the item is below 1 KB and a write costs one unit (docs/decisions/0002-quota-ledger.md). */
export const MAX_TAKINGS = 12
const LONGEST_ID_WITH_ALL = 40
/** A taking in the item, with its document's id. */
const TAKING_BYTES = 67
/** Releases have places of their own, so they do not wait for takings. */
export const MAX_RELEASES = 7
/** No live marker lasts this long: older ones are leftovers of dead processes and take up no place. */
const LEFTOVER_MS = 10_000
/** Leftovers stay until somebody cleans them; this many make the item 4 KB. */
const MAX_LEFTOVERS = 40
/** About ten tries in the six seconds for which a promotion is patient. */
const LONGEST_PAUSE_MS = { takings: 1300, releases: 65 }
/** Retried at once: these free places and bytes, and the retries of all who wait for them would starve them. */
const SOON = { ...CLOSING, longestPauseMs: 1 } as const

const COUNT_CHANGE = 'ADD version :one'
const TAKE = 'SET remaining_bytes = remaining_bytes - :size_bytes, documents = documents + :one'
const MARK = '#markers.#marker = :marker'
const HAS_PLACE = 'attribute_not_exists(#markers.#marker) AND size(#markers) < :most'
const IS_MARKED = 'attribute_exists(#markers.#marker)'
const REMOVE_MARKER = 'REMOVE #markers.#marker'
/** The amount comes from the marker itself, so it is always what was taken. */
const GIVE_BACK = 'SET remaining_bytes = remaining_bytes + #markers.#marker.n, documents = documents - :one'

/** A long workspace id takes the room of some takings. */
function mostTakings(workspaceId: WorkspaceId): number {
  return MAX_TAKINGS - Math.max(0, Math.ceil((workspaceId.length - LONGEST_ID_WITH_ALL) / TAKING_BYTES))
}

export function createLedger(settings: LedgerSettings): Ledger {
  const { client } = settings
  const table = openTable(settings)
  const keyOf = ({ workspaceId }: { workspaceId: WorkspaceId }) => ({ workspace_id: workspaceId })
  const names = ({ attemptId, releaseId }: Omit<Marker, 'workspaceId'>) => ({
    '#markers': releaseId === undefined ? 'takings' : 'releases',
    '#marker': releaseId ?? attemptId,
  })

  return {
    async read(workspaceId, signal) {
      const item = await table.get(keyOf({ workspaceId }), { name: 'ledger.read', signal })
      return item && decodeLedger(item)
    },

    async usage(workspaceId, signal) {
      const read = { ConsistentRead: false }
      const item = await table.get(keyOf({ workspaceId }), { name: 'ledger.read', signal }, read)
      return item && decodeUsage(item)
    },

    async take(taking, signal, retryForMs) {
      const written = await open('takings', taking, signal, retryForMs, {
        UpdateExpression: `${TAKE}, ${MARK} ${COUNT_CHANGE}`,
        ConditionExpression: `remaining_bytes >= :size_bytes AND ${HAS_PLACE}`,
        ExpressionAttributeNames: names(taking),
        values: { ':size_bytes': taking.sizeBytes, ':marker': encodeTaking(taking) },
      })
      if (written === 'throttled' || !written.item) return { outcome: 'crowded' }
      const ledger = decodeLedger(written.item)
      if (written.applied) return { outcome: 'taken', ledger }
      const hasRoom = ledger.quotaBytes - ledger.usedBytes >= taking.sizeBytes
      return { outcome: hasRoom ? 'crowded' : 'quota_exceeded', ledger }
    },

    async mark(release, signal, retryForMs) {
      const written = await open('releases', release, signal, retryForMs, {
        UpdateExpression: `SET ${MARK} ${COUNT_CHANGE}`,
        ConditionExpression: HAS_PLACE,
        ExpressionAttributeNames: names(release),
        values: { ':marker': encodeRelease(release) },
      })
      if (written === 'throttled') return 'crowded'
      if (!written.item) throw withoutLedger(release)
      return written.applied ? { markedIn: decodeLedger(written.item).version } : 'crowded'
    },

    async unmark(marker, signal) {
      await close('unmark', marker, REMOVE_MARKER, names(marker), signal)
    },

    async giveBack(marker, signal) {
      // The taking of a document that is deleted may be there still.
      const isRelease = marker.releaseId !== undefined
      const change = `${GIVE_BACK} ${REMOVE_MARKER}${isRelease ? ', takings.#attempt' : ''}`
      const ofAttempt = isRelease ? { '#attempt': marker.attemptId } : {}
      const { applied, item = {} } = await close('giveBack', marker, change, { ...names(marker), ...ofAttempt }, signal)
      return applied ? decodeUsage(item) : undefined
    },
  }

  /** A write that may be repeated: without its marker, it changes nothing. */
  function close(
    name: string,
    marker: Marker,
    UpdateExpression: string,
    ExpressionAttributeNames: Record<string, string>,
    signal: AbortSignal,
  ) {
    const change: Update = {
      UpdateExpression: `${UpdateExpression} ${COUNT_CHANGE}`,
      ConditionExpression: IS_MARKED,
      ExpressionAttributeNames,
      values: { ':one': 1 },
      ReturnValues: 'ALL_NEW',
    }
    return table.update(keyOf(marker), change, { name: `ledger.${name}`, signal, ...SOON })
  }

  /** Tries a crowded ledger again, for as long as the caller is patient; at once if leftovers take up the places. */
  async function open(
    kind: 'takings' | 'releases',
    marker: Taking | Release,
    signal: AbortSignal,
    retryForMs: number,
    change: Update,
  ) {
    const most = kind === 'takings' ? mostTakings(marker.workspaceId) : MAX_RELEASES
    const build = (leftovers = 0) => {
      const values = { ...change.values, ':one': 1, ':most': most + leftovers }
      return table.updateOf(keyOf(marker), { ...change, values, ReturnValues: 'ALL_NEW' })
    }
    let allowed = 0
    let isMade = kind === 'releases'
    const retryOf = async (error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) return undefined
      if (error.Item === undefined) {
        if (isMade) return undefined
        isMade = true
        await makeWorkspace(marker.workspaceId, signal)
        return { command: build(), isAtOnce: true }
      }
      const ledger = decodeLedger(error.Item)
      if (kind === 'takings' && ledger.quotaBytes - ledger.usedBytes < marker.sizeBytes) return undefined
      const isLeftover = ({ leaseEndsAtMs }: Taking) => leaseEndsAtMs < marker.leaseEndsAtMs - LEFTOVER_MS
      const leftovers = Math.min(ledger[kind].filter(isLeftover).length, MAX_LEFTOVERS)
      const isAtOnce = leftovers > allowed
      allowed = leftovers
      return { command: build(leftovers), isAtOnce }
    }
    const name = kind === 'takings' ? 'ledger.take' : 'ledger.mark'
    const options = { name, signal, ...SENT_ONCE, retryForMs, longestPauseMs: LONGEST_PAUSE_MS[kind], retryOf }
    return unlessThrottled(written(send(client, build(), options)))
  }

  async function makeWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const isNew = { ConditionExpression: 'attribute_not_exists(workspace_id)' }
    const options = { name: 'ledger.makeWorkspace', signal }
    try {
      await table.put(
        encodeNewWorkspace(workspaceId, { quotaBytes: settings.defaultQuotaBytes, nowMs: settings.now() }),
        options,
        isNew,
      )
    } catch (error) {
      if (!isThrottled(error)) throw error
      // The table is overloaded, not the workspace, so nobody is told to promote less.
      throw new ServiceError('service_unavailable', { cause: new Error('no workspace was made', { cause: error }) })
    }
  }
}

/** An item made now would give back bytes that it never counted. */
function withoutLedger({ workspaceId }: { workspaceId: WorkspaceId }): Error {
  return new Error(`workspace ${workspaceId} has no ledger: it needs an audit`)
}
