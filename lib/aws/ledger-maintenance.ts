import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { LedgerMaintenance } from '../maintenance/ledger-maintenance.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import { listPages } from './list-pages.ts'
import { OPENING, send } from './send.ts'
import { CHECK_INDEX, CHECK_SHARDS, newWorkspaceItem, toWorkspaceLedger } from './workspace-item.ts'

/** It may be the hottest item there is. */
const PATIENCE_MS = 60_000
/**
 * More than a ledger has in ten minutes. One that is made again starts at the clock's milliseconds, far ahead (see
 * newWorkspaceItem).
 */
const MAX_CHANGES = 600_000
const IS_SAME_LEDGER = 'version BETWEEN :version AND :last'
const IS_NOT_CORRECTED = '(attribute_not_exists(corrected_in) OR corrected_in < :version)'

/** A slice of the audit may end between two pages, so a page is small. */
const SHARE_PAGE = 100

export function createLedgerMaintenance({
  client,
  tableName: TableName,
  defaultQuotaBytes,
}: {
  client: DynamoDBClient
  tableName: string
  defaultQuotaBytes: number
}): LedgerMaintenance {
  const keyOf = (workspaceId: WorkspaceId) => marshall({ workspace_id: workspaceId })

  return {
    async *list(signal, share) {
      const scan = { TableName, ConsistentRead: true, ProjectionExpression: 'workspace_id' }
      const begin = share && {
        Limit: SHARE_PAGE,
        Segment: share.segment,
        TotalSegments: share.totalSegments,
        ...(share.after && { ExclusiveStartKey: keyOf(share.after) }),
      }
      const pages = listPages((start) =>
        send(client, new ScanCommand({ ...scan, ...begin, ...start }), { name: 'ledger.list', signal }),
      )
      for await (const items of pages) {
        for (const { workspace_id } of items) yield workspace_id?.S as WorkspaceId
      }
    },

    async *readAll(signal) {
      const pages = listPages((start) =>
        send(client, new ScanCommand({ TableName, ConsistentRead: true, ...start }), { name: 'ledger.list', signal }),
      )
      for await (const items of pages) yield* items.map(toWorkspaceLedger)
    },

    shards: CHECK_SHARDS,

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
      const command = new GetItemCommand({ TableName, Key: keyOf(workspaceId), ConsistentRead: true })
      const { Item } = await send(client, command, { name: 'ledger.read', signal })
      return Item && toWorkspaceLedger(Item)
    },

    async claim(workspaceId, { seenMs, untilMs }, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId),
        UpdateExpression: 'SET check_due_at = :until',
        ConditionExpression: 'check_due_at = :seen',
        ExpressionAttributeValues: marshall({ ':seen': seenMs, ':until': untilMs }),
        ReturnValues: 'ALL_NEW',
      })
      // If the first answer is lost, the repetition finds the claim taken: nobody looks until it is over.
      const write = await conditionally(send(client, command, { name: 'ledger.claim', signal }))
      return write.held ? toWorkspaceLedger(write.output.Attributes ?? {}) : undefined
    },

    async reschedule(workspaceId, check, signal) {
      // The audit need not know of either change: `version` stays.
      const { UpdateExpression, ConditionExpression, values } =
        check.nextMs === undefined
          ? {
              UpdateExpression: 'REMOVE check_due_at, check_shard',
              ConditionExpression: 'check_due_at = :seen AND version = :version',
              values: { ':version': check.version },
            }
          : {
              UpdateExpression: 'SET check_due_at = :next',
              ConditionExpression: 'check_due_at = :seen',
              values: { ':next': check.nextMs },
            }
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId),
        UpdateExpression,
        ConditionExpression,
        ExpressionAttributeValues: marshall({ ...values, ':seen': check.seenMs }),
      })
      await conditionHeld(send(client, command, { name: 'ledger.reschedule', signal }))
    },

    async correct(workspaceId, { usedBytes, expectedBytes, at }, signal) {
      if (at === undefined) {
        const command = new PutItemCommand({
          TableName,
          Item: marshall(newWorkspaceItem(workspaceId, defaultQuotaBytes, expectedBytes)),
          ConditionExpression: 'attribute_not_exists(workspace_id)',
        })
        return conditionHeld(send(client, command, { name: 'ledger.createWorkspace', signal, ...OPENING }))
      }
      // Each names the version that it found: a second correction of the same drift comes too late.
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(workspaceId),
        UpdateExpression:
          'SET remaining_bytes = remaining_bytes + :excess, corrected_in = version, version = version + :one',
        ConditionExpression: `${IS_SAME_LEDGER} AND ${IS_NOT_CORRECTED}`,
        ExpressionAttributeValues: marshall({
          ':excess': usedBytes - expectedBytes,
          ':version': at.version,
          ':last': at.lastVersion + MAX_CHANGES,
          ':one': 1,
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      const write = await conditionally(
        send(client, command, { name: 'ledger.correct', signal, patienceMs: PATIENCE_MS }),
      )
      return write.held || Number(write.item?.corrected_in?.N) >= at.version
    },
  }
}
