import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { DocumentId, WorkspaceId } from '../../ids.ts'
import { hasExpired } from '../../ledger/expiry.ts'
import type { DocumentExpiries, ExpiredDocument } from '../../ledger/ports/document-expiries.ts'
import { SENT_ONCE, type SendOptions, send } from '../calls/send.ts'
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

  /** CloudFormation does not wait for an index that it adds to a table: until it can be read, it is empty. */
  const readIndex = (query: QueryCommandInput, options: SendOptions) =>
    send(client, new QueryCommand(query), options).catch((error) => {
      if (/does not have the specified index|backfilling global secondary/.test(error.message)) return { Items: [] }
      throw error
    })

  return {
    // The shards of due workspaces, so that one run of the resolver has all work in a workspace.
    expiryShards: CHECK_SHARDS,

    async *listExpired({ shard, nowMs }, signal) {
      const query = queryOf(String(shard), nowMs)
      const pages = listPages((start) => readIndex({ ...query, ...start }, { name: 'documents.listExpired', signal }))
      for await (const items of pages) yield items.map(toExpired)
    },

    async nextExpiry(workspaceId, byMs, signal) {
      // Whoever asks can do without the answer, and others need the shard.
      const query = { ...queryOf(checkShardOf(workspaceId), byMs, workspaceId), Limit: MOST_READ }
      const { Items: [next] = [] } = await readIndex(query, { name: 'documents.nextExpiry', signal })
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
