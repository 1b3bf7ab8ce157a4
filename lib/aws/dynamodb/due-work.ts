import type { WorkspaceId } from '../../ids.ts'
import type { DueEntry, DueWork } from '../../ledger/ports/documents.ts'
import type { Attributes } from './codec.ts'
import { DUE_SHARDS, decodeItem, dueShard, isForgotten } from './document-codec.ts'
import { DUE_INDEX } from './documents.ts'
import { getItem, query, type Table } from './table.ts'

export function createDueWork(table: Table & { now(): number }): DueWork {
  const { now } = table
  return {
    dueShards: DUE_SHARDS,

    async *listDue({ kind, shard, byMs }, signal) {
      const due = {
        IndexName: DUE_INDEX,
        KeyConditionExpression: 'due_shard = :shard AND due_at <= :by',
        values: { ':shard': dueShard(kind, shard), ':by': byMs },
      }
      const pages = query(table, { name: 'documents.listDue', signal }, due)
      for await (const items of pages) yield items.map(toEntry)
    },

    async findDue({ workspaceId, itemId }, signal) {
      const key = { workspace_id: workspaceId, document_id: itemId }
      const item = await getItem(table, key, { name: 'documents.findDue', signal })
      return item && !isForgotten(item, now()) ? decodeItem(item) : undefined
    },
  }
}

const toEntry = ({ workspace_id, document_id, due_at }: Attributes): DueEntry => ({
  workspaceId: workspace_id?.S as WorkspaceId,
  itemId: document_id?.S ?? '',
  dueAtMs: Number(due_at?.N),
})
