import type { Erasures } from '../../administration/ports/erasures.ts'
import type { WorkspaceId } from '../../ids.ts'
import { CLOSING, SENT_ONCE } from '../calls/send.ts'
import { IS_OPEN } from './ledger.ts'
import { pagesOf, query, removeItems, settingIfAsRead, type Table, updateItem } from './table.ts'
import { encodeErasure } from './workspace-codec.ts'

/** Index of the Workspaces table. Contains only workspaces whose erasures go on. */
const ERASURES_INDEX = 'erasures'
const STATE_NAME = { '#state': 'state' }
const IS_IN_STATE = 'erasure.#state = :state'
const IS_AT_WORK = 'erasure.#state IN (:erasing, :verifying)'

export function createErasures(table: Table & { documentsTable: string }): Erasures {
  const documents = { ...table, tableName: table.documentsTable }
  const keyOf = (workspaceId: WorkspaceId) => ({ workspace_id: workspaceId })

  return {
    async *listDue(byMs, signal) {
      const due = {
        IndexName: ERASURES_INDEX,
        KeyConditionExpression: 'erasure_due = :due AND erasure_due_at <= :by',
        values: { ':due': 'due', ':by': byMs },
      }
      for await (const items of query(table, { name: 'erasures.listDue', signal }, due))
        for (const { workspace_id } of items) yield workspace_id?.S as WorkspaceId
    },

    async change(workspaceId, { shown, to }, signal) {
      const condition = `attribute_exists(workspace_id) AND ${shown ? IS_IN_STATE : IS_OPEN}`
      // Each step has a time of its own.
      const change = settingIfAsRead({ erasure_due_at: shown?.dueAtMs }, encodeErasure(to), condition)
      const update = {
        ...change,
        UpdateExpression: `${change.UpdateExpression} ADD version :one`,
        ExpressionAttributeNames: { ...change.ExpressionAttributeNames, ...(shown && STATE_NAME) },
        values: { ...change.values, ':one': 1, ':state': shown?.state },
      }
      // Sent once: a repetition would find its own write, and say that nothing was done.
      const options = { name: 'erasures.change', signal, ...SENT_ONCE }
      return (await updateItem(table, keyOf(workspaceId), update, options)).applied
    },

    async clear(workspaceId, signal) {
      const change = {
        UpdateExpression:
          'SET remaining_bytes = quota_bytes, documents = :none, holds = :empty, refunds = :empty ' +
          'REMOVE label, per_minute, expire_after, expire_at_most, disabled ADD version :one',
        ConditionExpression: IS_AT_WORK,
        ExpressionAttributeNames: STATE_NAME,
        values: { ':none': 0, ':empty': {}, ':one': 1, ':erasing': 'erasing', ':verifying': 'verifying' },
      }
      await updateItem(table, keyOf(workspaceId), change, { name: 'erasures.clear', signal, ...CLOSING })
    },

    async *removeItems(workspaceId, signal) {
      const pages = pagesOf(documents, { workspace_id: workspaceId }, { name: 'documents.list', signal })
      for await (const items of pages) {
        const keys = items.map(({ document_id }) => ({ workspace_id: workspaceId, document_id: document_id?.S }))
        await removeItems(documents, keys, { name: 'documents.remove', signal, ...CLOSING })
        yield items.length
      }
    },
  }
}
