import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { WorkspaceId } from '../ids.ts'
import type { MarkerId, QuotaLedger } from '../promotion/quota-ledger.ts'
import { conditionally, conditionHeld } from './conditional-write.ts'
import { createLedgerOpenings } from './ledger-openings.ts'
import {
  COUNT_CHANGE,
  COUNT_UNDONE,
  checkValues,
  GIVE_BACK,
  IS_MARKED,
  type LedgerUpdate,
  REMOVE_MARKER,
  SCHEDULE_CHECK,
  updateLedger,
} from './ledger-update.ts'
import { type SendOptions, send } from './send.ts'
import { newWorkspaceItem, readWorkspaceItem, usageOf } from './workspace-item.ts'

export interface QuotaLedgerSettings {
  client: DynamoDBClient
  tableName: string
  /** For workspaces without a quota of their own. */
  defaultQuotaBytes: number
}

/** Retried throughout the request, every 10 ms: other promotions wait for this room. */
const CLOSING = { patienceMs: 60_000, longestPauseMs: 10 }

export function createQuotaLedger(settings: QuotaLedgerSettings): QuotaLedger {
  const { client, tableName: TableName } = settings
  const openings = createLedgerOpenings(settings)
  const update = (marker: MarkerId, options: SendOptions, changes: LedgerUpdate) =>
    updateLedger(settings, marker, options, changes)

  return {
    async take(reservation, signal) {
      let outcome = await openings.take(reservation, signal)
      if (outcome.outcome === 'in_the_way' && outcome.item === undefined) {
        await createWorkspace(reservation.workspaceId, signal)
        outcome = await openings.take(reservation, signal)
      }
      return outcome.outcome === 'in_the_way' ? { outcome: 'crowded' } : outcome
    },

    async mark(release, signal) {
      const outcome = await openings.mark(release, signal)
      if (outcome.outcome === 'marked') return outcome.release
      if (outcome.outcome === 'in_the_way' && outcome.item === undefined) throw withoutLedger(release)
      return 'crowded'
    },

    async schedule(work, signal) {
      const command = new UpdateItemCommand({
        TableName,
        Key: marshall({ workspace_id: work.workspaceId }),
        // The version changes, so that a resolver that has read the ledger before does not forget the workspace.
        UpdateExpression: `SET ${SCHEDULE_CHECK} ${COUNT_CHANGE}`,
        ConditionExpression: 'attribute_exists(workspace_id)',
        ExpressionAttributeValues: marshall({ ...checkValues(work), ':one': 1 }),
      })
      const options = { name: 'ledger.schedule', signal, ...CLOSING }
      if (!(await conditionHeld(send(client, command, options)))) throw withoutLedger(work)
    },

    async unmark(marker, signal) {
      await conditionHeld(
        update(
          marker,
          { name: 'ledger.unmark', signal, ...CLOSING },
          {
            UpdateExpression: REMOVE_MARKER,
            ConditionExpression: IS_MARKED,
          },
        ),
      )
    },

    async release(marker, signal) {
      const write = await conditionally(
        update(
          marker,
          { name: 'ledger.release', signal, ...CLOSING },
          {
            UpdateExpression: `SET ${GIVE_BACK} ${REMOVE_MARKER}`,
            ...(marker.purpose === 'undo' && { count: COUNT_UNDONE }),
            ConditionExpression: IS_MARKED,
            ReturnValues: 'ALL_NEW',
          },
        ),
      )
      return write.held ? usageOf(readWorkspaceItem(write.output.Attributes ?? {})) : undefined
    },

    async usage(workspaceId, signal) {
      const command = new GetItemCommand({
        TableName,
        Key: marshall({ workspace_id: workspaceId }),
        ProjectionExpression: 'workspace_id, quota_bytes, remaining_bytes',
      })
      const { Item } = await send(client, command, { name: 'ledger.read', signal })
      return Item && usageOf(readWorkspaceItem(Item))
    },
  }

  async function createWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<void> {
    const command = new PutItemCommand({
      TableName,
      Item: marshall(newWorkspaceItem(workspaceId, settings.defaultQuotaBytes)),
      ConditionExpression: 'attribute_not_exists(workspace_id)',
    })
    await conditionHeld(send(client, command, { name: 'ledger.createWorkspace', signal }))
  }
}

/** An item made now would give back bytes that it never counted. */
function withoutLedger({ workspaceId }: { workspaceId: WorkspaceId }): Error {
  return new Error(`workspace ${workspaceId} has no ledger: it needs an audit`)
}
