import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../../ids.ts'
import type { LedgerMaintenance, TableShard } from '../../ledger/ports/ledger-maintenance.ts'
import { CLOSING, SENT_ONCE, send } from '../calls/send.ts'
import { listPages } from './list-pages.ts'
import type { QuotaLedgerSettings } from './quota-ledger.ts'
import { openTable } from './table.ts'
import { CHECK_INDEX, CHECK_SHARDS, newWorkspaceItem, toWorkspaceLedger } from './workspace-item.ts'

/**
 * More changes than a ledger has in ten minutes. A ledger that is made again starts at the clock's milliseconds, far
 * ahead (see newWorkspaceItem).
 */
const MAX_CHANGES = 600_000
const IS_SAME_LEDGER = 'version BETWEEN :version AND :last'
const IS_NOT_CORRECTED = '(attribute_not_exists(corrected_in) OR corrected_in < :version)'

/** A slice of the audit may end between two pages, so a page is small. */
const PAGE = 100
const ALL: TableShard = { shard: 0, totalShards: 1 }

export function createLedgerMaintenance(settings: QuotaLedgerSettings): LedgerMaintenance {
  const { client, tableName: TableName, defaultQuotaBytes } = settings
  const table = openTable(settings)
  const keyOf = (workspaceId: WorkspaceId) => ({ workspace_id: workspaceId })

  return {
    async *list(signal, { shard: Segment, totalShards: TotalSegments, after } = ALL) {
      const start = after && { ExclusiveStartKey: marshall(keyOf(after)) }
      const scan = { Segment, TotalSegments, Limit: PAGE, ProjectionExpression: 'workspace_id', ...start }
      for await (const items of table.scan({ name: 'ledger.list', signal }, scan)) {
        for (const { workspace_id } of items) yield workspace_id?.S as WorkspaceId
      }
    },

    async *readAll(signal) {
      for await (const items of table.scan({ name: 'ledger.list', signal })) yield* items.map(toWorkspaceLedger)
    },

    dueShards: CHECK_SHARDS,

    async *listDue({ shard, nowMs }, signal) {
      const query = {
        TableName,
        IndexName: CHECK_INDEX,
        KeyConditionExpression: 'check_shard = :shard AND check_due_at <= :now',
        ExpressionAttributeValues: marshall({ ':shard': String(shard), ':now': nowMs }),
      }
      const pages = listPages((start) =>
        send(client, new QueryCommand({ ...query, ...start }), { name: 'ledger.listDue', signal }),
      )
      for await (const items of pages) {
        yield items.map(({ workspace_id, check_due_at }) => ({
          workspaceId: workspace_id?.S as WorkspaceId,
          checkDueAtMs: Number(check_due_at?.N),
        }))
      }
    },

    async read(workspaceId, signal) {
      const item = await table.get(keyOf(workspaceId), { name: 'ledger.read', signal })
      return item && toWorkspaceLedger(item)
    },

    async lease(workspaceId, { seenDueAtMs, untilMs }, signal) {
      const change = {
        UpdateExpression: 'SET check_due_at = :until',
        ConditionExpression: 'check_due_at = :seen',
        values: { ':seen': seenDueAtMs, ':until': untilMs },
        ReturnValues: 'ALL_NEW',
      } as const
      // If the first answer is lost, the repetition finds the lease taken: nobody checks until it is over.
      const { applied, item = {} } = await table.update(keyOf(workspaceId), change, { name: 'ledger.lease', signal })
      return applied ? toWorkspaceLedger(item) : undefined
    },

    async reschedule(workspaceId, { seenDueAtMs, ...check }, signal) {
      // The audit need not know of either change: `version` stays.
      const isLast = check.nextMs === undefined
      const change = {
        UpdateExpression: isLast ? 'REMOVE check_due_at, check_shard' : 'SET check_due_at = :next',
        ConditionExpression: `check_due_at = :seen${isLast ? ' AND version = :version' : ''}`,
        values: { ':seen': seenDueAtMs, ...(isLast ? { ':version': check.version } : { ':next': check.nextMs }) },
      }
      await table.update(keyOf(workspaceId), change, { name: 'ledger.reschedule', signal })
    },

    async correct(workspaceId, { usedBytes, expectedBytes, at }, signal) {
      if (at === undefined) {
        const item = newWorkspaceItem(workspaceId, defaultQuotaBytes, expectedBytes)
        const isNew = { ConditionExpression: 'attribute_not_exists(workspace_id)' }
        const options = { name: 'ledger.createWorkspace', signal, ...SENT_ONCE }
        return (await table.put(item, options, isNew)).applied
      }
      // Each names the version that it found: a second correction of the same drift comes too late.
      const change = {
        UpdateExpression:
          'SET remaining_bytes = remaining_bytes + :excess, corrected_in = version, version = version + :one',
        ConditionExpression: `${IS_SAME_LEDGER} AND ${IS_NOT_CORRECTED}`,
        values: {
          ':excess': usedBytes - expectedBytes,
          ':version': at.version,
          ':last': at.lastVersion + MAX_CHANGES,
          ':one': 1,
        },
      }
      const options = { name: 'ledger.correct', signal, ...CLOSING }
      const { applied, item } = await table.update(keyOf(workspaceId), change, options)
      return applied || Number(item?.corrected_in?.N) >= at.version
    },
  }
}
