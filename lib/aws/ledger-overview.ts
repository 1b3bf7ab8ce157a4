import { GetItemCommand, PutItemCommand, paginateScan, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { LedgerOverview } from '../promotion/ports.ts'
import { callAws, iterateAws } from './call-aws.ts'
import { isDone } from './conditional-write.ts'
import type { QuotaLedgerSettings } from './quota-ledger.ts'
import { newWorkspaceItem, toWorkspaceItem, toWorkspaceLedger } from './workspace-item.ts'

/** All workspaces of the Workspaces table, for the resolver and the audit. */
export function createLedgerOverview({
  client,
  tableName: TableName,
  defaultQuotaBytes,
}: Pick<QuotaLedgerSettings, 'client' | 'tableName' | 'defaultQuotaBytes'>): LedgerOverview {
  return {
    async *list({ onlyWithReservations }, signal) {
      const filter = onlyWithReservations
        ? { FilterExpression: 'size(reservations) > :none', ExpressionAttributeValues: marshall({ ':none': 0 }) }
        : {}
      const pages = paginateScan({ client }, { TableName, ConsistentRead: true, ...filter }, { abortSignal: signal })
      for await (const { Items = [] } of iterateAws(signal, pages)) {
        for (const item of Items) yield toWorkspaceLedger(toWorkspaceItem(item))
      }
    },

    async read(workspaceId, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ConsistentRead: true,
      })
      const { Item } = await callAws(signal, () => client.send(command, { abortSignal: signal }))
      return Item && toWorkspaceLedger(toWorkspaceItem(Item))
    },

    async correct(workspaceId, { usedBytes, version }, signal) {
      const ledger = await this.read(workspaceId, signal)
      if (ledger?.version !== version) return false
      const command =
        ledger === undefined
          ? new PutItemCommand({
              TableName,
              Item: marshall(newWorkspaceItem(workspaceId, defaultQuotaBytes, usedBytes)),
              ConditionExpression: 'attribute_not_exists(workspace_id)',
            })
          : new UpdateItemCommand({
              TableName,
              Key: marshall({ workspace_id: workspaceId }),
              UpdateExpression: 'SET remaining_bytes = :remaining_bytes ADD version :one',
              ConditionExpression: 'version = :version',
              ExpressionAttributeValues: marshall({
                ':remaining_bytes': ledger.quotaBytes - usedBytes,
                ':version': ledger.version,
                ':one': 1,
              }),
            })
      return isDone(callAws(signal, () => client.send(command as UpdateItemCommand, { abortSignal: signal })))
    },
  }
}
