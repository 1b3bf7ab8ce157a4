import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentId, WorkspaceId } from '../../ids.ts'
import { hasExpired } from '../../ledger/expiry.ts'
import type { DocumentExpiries, ExpiredDocument } from '../../ledger/ports/document-expiries.ts'
import { SENT_ONCE, send } from '../calls/send.ts'
import { documentKey, expiryOf, IS_ATTEMPTS_DOCUMENT } from './document-item.ts'
import { listPages } from './list-pages.ts'
import type { Attributes } from './stored-item.ts'
import { asRead, openTable, setting, type TableSettings } from './table.ts'
import { CHECK_SHARDS, checkShardOf } from './workspace-item.ts'

/** Index of the Documents table by due_shard and due_at. Contains only documents that will expire. */
export const EXPIRY_INDEX = 'expiries'

/** Of a shard, for the next expiry in one workspace. */
const MOST_READ = 200

export function createDocumentExpiries(settings: TableSettings & { now(): number }): DocumentExpiries {
  const { client, tableName: TableName, now } = settings
  const table = openTable(settings)
  const queryOf = (shard: string, byMs: number, workspaceId?: WorkspaceId) => ({
    TableName,
    IndexName: EXPIRY_INDEX,
    KeyConditionExpression: 'due_shard = :shard AND due_at <= :by',
    ...(workspaceId && { FilterExpression: 'workspace_id = :workspace_id' }),
    ExpressionAttributeValues: marshall({
      ':shard': shard,
      ':by': byMs,
      ...(workspaceId && { ':workspace_id': workspaceId }),
    }),
  })

  return {
    // The shards of due workspaces, so that one run of the resolver has all work in a workspace.
    expiryShards: CHECK_SHARDS,

    async *listExpired({ shard, nowMs }, signal) {
      const query = queryOf(String(shard), nowMs)
      const options = { name: 'documents.listExpired', signal }
      const pages = listPages((start) => send(client, new QueryCommand({ ...query, ...start }), options))
      for await (const items of pages) yield items.map(toExpired)
    },

    async nextExpiry(workspaceId, byMs, signal) {
      // Whoever asks can do without the answer, and others need the shard.
      const query = new QueryCommand({ ...queryOf(checkShardOf(workspaceId), byMs, workspaceId), Limit: MOST_READ })
      const { Items: [next] = [] } = await send(client, query, { name: 'documents.nextExpiry', signal })
      return next && toExpired(next).expiresAt
    },

    async setExpiry(document, expiresAt, signal) {
      if (hasExpired(document, now())) return false
      const { values, ...change } = setting(expiryOf({ ...document, expiresAt }))
      const read = asRead({ due_at: document.expiresAt?.getTime() })
      const update = {
        ...change,
        ConditionExpression: `${IS_ATTEMPTS_DOCUMENT} AND ${read.condition}`,
        values: {
          ...values,
          ...read.values,
          ':document': 'document',
          ':attempt_id': document.attemptId,
        },
      }
      const options = { name: 'documents.setExpiry', signal, ...SENT_ONCE }
      return (await table.update(documentKey(document.workspaceId, document.documentId), update, options)).applied
    },
  }
}

function toExpired({ workspace_id, document_id, due_at }: Attributes): ExpiredDocument {
  return {
    workspaceId: workspace_id?.S as WorkspaceId,
    documentId: document_id?.S as DocumentId,
    expiresAt: new Date(Number(due_at?.N)),
  }
}
