import { isDeepStrictEqual } from 'node:util'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../../ids.ts'
import type { WorkspaceLedger } from '../../ledger/ports/ledger.ts'
import type { LedgerMaintenance } from '../../ledger/ports/ledger-maintenance.ts'
import { CLOSING, SENT_ONCE } from '../calls/send.ts'
import { readOrName } from './codec.ts'
import { createLedger, IS_OPEN, type LedgerSettings } from './ledger.ts'
import { putItem, removeItem, scan, settingIfAsRead, updateItem } from './table.ts'
import { decodeLedger, encodeNewWorkspace, encodeSettings } from './workspace-codec.ts'

const IS_SAME_LEDGER = 'created_at = :created_at AND version >= :version'
const IS_NOT_CORRECTED = '(attribute_not_exists(corrected_in) OR corrected_in < :version)'
const IS_ABSENT = 'attribute_not_exists(workspace_id)'
/** Entries need no check: holds are counted, and a refund without a counted document is a leftover. */
const IS_EMPTY = 'remaining_bytes = quota_bytes AND documents = :none'
/** An erasure that has begun removes the settings, which must not come back. */
const IS_NOT_ERASED = `(${IS_OPEN} OR erasure.#state = :scheduled)`
/** In the write that sets the quota: what is held in between stays counted. */
const KEEP_USED_BYTES = 'remaining_bytes = remaining_bytes + :difference'

/** A slice of the audit may end between two pages, so a page is small. */
const PAGE = 100

export function createLedgerMaintenance(table: LedgerSettings): LedgerMaintenance {
  const { defaultQuotaBytes, now } = table
  const { read } = createLedger(table)
  const keyOf = (workspaceId: WorkspaceId) => ({ workspace_id: workspaceId })

  return {
    async *list(signal, { shard: Segment, totalShards: TotalSegments, after }) {
      const start = after && { ExclusiveStartKey: marshall(keyOf(after)) }
      const wanted = { Segment, TotalSegments, Limit: PAGE, ProjectionExpression: 'workspace_id', ...start }
      for await (const items of scan(table, { name: 'ledger.list', signal }, wanted)) {
        for (const { workspace_id } of items) yield workspace_id?.S as WorkspaceId
      }
    },

    async *readAll(signal, { after, limit } = {}) {
      const start = after && { ExclusiveStartKey: marshall(keyOf(after)) }
      const wanted = { ...start, ...(limit !== undefined && { Limit: limit }) }
      for await (const items of scan(table, { name: 'ledger.list', signal }, wanted)) {
        for (const item of items) yield readOrName(item, decodeLedger, item.workspace_id)
      }
    },

    async correct(workspaceId, { counted, expected, at }, signal) {
      if (at === undefined) {
        const made = { quotaBytes: defaultQuotaBytes, ...expected, nowMs: now() }
        const options = { name: 'ledger.makeWorkspace', signal, ...SENT_ONCE }
        const isNew = { ConditionExpression: IS_ABSENT }
        return (await putItem(table, encodeNewWorkspace(workspaceId, made), options, isNew)).applied
      }
      // Each names the version that it found: a second correction of the same drift comes too late.
      const change = {
        UpdateExpression:
          'SET remaining_bytes = remaining_bytes + :excess_bytes, documents = documents - :excess_documents, ' +
          'corrected_in = version, version = version + :one',
        ConditionExpression: `${IS_SAME_LEDGER} AND ${IS_NOT_CORRECTED} AND ${IS_OPEN}`,
        values: {
          ':excess_bytes': counted.usedBytes - expected.usedBytes,
          ':excess_documents': counted.documents - expected.documents,
          ':created_at': at.createdAtMs,
          ':version': at.version,
          ':one': 1,
        },
      }
      const options = { name: 'ledger.correct', signal, ...CLOSING }
      const { applied, item } = await updateItem(table, keyOf(workspaceId), change, options)
      const isSame = Number(item?.created_at?.N) === at.createdAtMs
      return applied || (isSame && Number(item?.corrected_in?.N) >= at.version)
    },

    async create(workspaceId, wanted, signal) {
      const options = { name: 'ledger.makeWorkspace', signal }
      const item = encodeNewWorkspace(workspaceId, { ...wanted, nowMs: now() })
      for (;;) {
        const { applied } = await putItem(table, item, options, { ConditionExpression: IS_ABSENT })
        if (applied) return { isNew: true, ledger: decodeLedger(marshall(item, { removeUndefinedValues: true })) }
        const existing = await read(workspaceId, signal)
        // Otherwise it was deleted meanwhile.
        if (existing) return { isNew: false, ledger: existing }
      }
    },

    async change(workspaceId, { shown, to }, signal) {
      const wanted = encodeSettings(to)
      const condition = `attribute_exists(workspace_id) AND ${IS_NOT_ERASED}`
      const keep = to.quotaBytes === undefined ? [] : [KEEP_USED_BYTES]
      const change = settingIfAsRead(encodeSettings(shown, to), wanted, condition, keep)
      const differenceBytes = to.quotaBytes === undefined ? undefined : to.quotaBytes - shown.quotaBytes
      const update = {
        ...change,
        UpdateExpression: `${change.UpdateExpression} ADD version :one`,
        ExpressionAttributeNames: { ...change.ExpressionAttributeNames, '#state': 'state' },
        values: { ...change.values, ':difference': differenceBytes, ':one': 1, ':scheduled': 'scheduled' },
        ReturnValues: 'ALL_NEW',
      } as const
      const isAsWanted = (ledger: WorkspaceLedger) => isDeepStrictEqual(encodeSettings(ledger, to), wanted)
      try {
        const options = { name: 'ledger.change', signal, ...SENT_ONCE }
        const { applied, item } = await updateItem(table, keyOf(workspaceId), update, options)
        const ledger = item && decodeLedger(item)
        return ledger && (applied || isAsWanted(ledger) ? ledger : 'changed')
      } catch (error) {
        // Perhaps only its answer was lost. If not, it may still arrive, so it is not sent again.
        const ledger = await read(workspaceId, signal).catch(() => undefined)
        if (ledger && isAsWanted(ledger)) return ledger
        throw error
      }
    },

    async remove(workspaceId, version, signal) {
      const condition = {
        ConditionExpression:
          version === undefined ? IS_ABSENT : `${IS_ABSENT} OR (version = :version AND ${IS_EMPTY} AND ${IS_OPEN})`,
        values: version === undefined ? undefined : { ':none': 0, ':version': version },
      }
      return (await removeItem(table, keyOf(workspaceId), condition, { name: 'ledger.remove', signal })).applied
    },
  }
}
