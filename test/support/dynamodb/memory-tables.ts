import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { type DeclaredTable, readTables } from '../../../infra/deploy/service-definition.ts'
import type { StoredItem } from '../../../lib/audit/ports/document-maintenance.ts'
import type { Attributes } from '../../../lib/aws/dynamodb/codec.ts'
import { decodeItem } from '../../../lib/aws/dynamodb/document-codec.ts'
import { decodeLedger } from '../../../lib/aws/dynamodb/workspace-codec.ts'
import { readConfig } from '../../../lib/config.ts'
import type { WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import type { WorkspaceLedger } from '../../../lib/ledger/ports/ledger.ts'
import type { Content } from './dynalite.ts'
import { DynamoDbFailure } from './failures.ts'
import { createLimitedDynamoDb, type LimitedDynamoDb } from './limited-dynamodb.ts'
import { UNLIMITED } from './throughput.ts'

export const [WORKSPACES_TABLE, DOCUMENTS_TABLE] = ['workspaces_table', 'documents_table']
export const [KEYS_TABLE, RATE_LIMITS_TABLE] = ['keys_table', 'rate_limits_table']
const TABLES = { WORKSPACES_TABLE, DOCUMENTS_TABLE, KEYS_TABLE, RATE_LIMITS_TABLE }
/** All else as if nobody had set it. */
export const CONFIG = readConfig({ ...TABLES, SANDBOX_BUCKET: 'sandboxes', DOCUMENTS_BUCKET: 'documents' })

export const DECLARED = readTables(TABLES)

/** Makes tables of the template: they are there before the call returns. */
export function createTables({ execute }: Pick<LimitedDynamoDb, 'execute'>, declared: readonly DeclaredTable[]): void {
  for (const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } of declared) {
    const table = { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode }
    void execute('CreateTable', JSON.parse(JSON.stringify(table)))
  }
}

/** A command of the SDK. */
export interface Command {
  input: Content
  constructor: { name: string }
}

export const operationOf = (command: Command) => command.constructor.name.replace(/Command$/, '')

/**
 * The tables of the template in memory, with dynalite's own rules for requests, conditions and updates, where the client
 * of the SDK stands.
 */
export function createMemoryTables({ now }: { now(): number }) {
  const tables = createLimitedDynamoDb({ now, staleMs: 0, limits: UNLIMITED })
  createTables(tables, DECLARED)
  const all = (name: string) => {
    const spaces = tables.snapshot()
    if (!spaces.tables.has(name)) throw new Error(`there is no table ${name}`)
    return spaces.of(name).list({}, now()) as Attributes[]
  }
  /** The item is there before the call returns. */
  const put = (TableName: string, item: object) =>
    tables.execute('PutItem', { TableName, Item: marshall(item, { removeUndefinedValues: true }) })

  return {
    tables,
    client: clientOf((operation, input) => executeAsSdk(tables, operation, input)),
    attributes: all,
    put,
    /** The items of Documents, in the order of their keys, as long as DynamoDB keeps them. */
    items: () =>
      all(DOCUMENTS_TABLE).map(
        (attributes) => ({ ...decodeItem(attributes), itemId: attributes.document_id?.S }) as StoredItem,
      ),
    documents: () =>
      all(DOCUMENTS_TABLE).flatMap((attributes) => {
        const item = decodeItem(attributes)
        return item?.state === 'ready' ? [item as WorkspaceDocument] : []
      }),
    ledgers: (): WorkspaceLedger[] => all(WORKSPACES_TABLE).map(decodeLedger),
    ledgerOf: (workspaceId: string) =>
      all(WORKSPACES_TABLE)
        .map(decodeLedger)
        .find((each) => each.workspaceId === workspaceId),
    /** As if others had used it meanwhile. */
    setUsage: (workspace_id: string, { quotaBytes, usedBytes }: { quotaBytes: number; usedBytes: number }) =>
      tables.execute('UpdateItem', {
        TableName: WORKSPACES_TABLE,
        Key: marshall({ workspace_id }),
        UpdateExpression: 'SET quota_bytes = :quota, remaining_bytes = :remaining ADD version :one',
        ExpressionAttributeValues: marshall({ ':quota': quotaBytes, ':remaining': quotaBytes - usedBytes, ':one': 1 }),
      }),
    /** As if a person had written into it. */
    async change(TableName: string, change: (item: Attributes) => void, isMeant = (_item: Attributes) => true) {
      for (const item of all(TableName).filter(isMeant)) {
        const changed = structuredClone(item)
        change(changed)
        await tables.execute('PutItem', { TableName, Item: changed })
      }
    },
    async removeAll(TableName: string) {
      const { KeySchema = [] } = tables.snapshot().tables.get(TableName) ?? {}
      for (const item of all(TableName)) {
        const Key = Object.fromEntries(KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName]]))
        await tables.execute('DeleteItem', { TableName, Key })
      }
    },
  }
}

/** The adapters need no more of a client. */
export function clientOf(send: (operation: string, input: Content, command: Command) => Promise<unknown>) {
  return {
    send: (command: Command) => send(operationOf(command), command.input, command),
  } as unknown as DynamoDBClient
}

/** Fails as the SDK does. */
export async function executeAsSdk(tables: LimitedDynamoDb, operation: string, input: Content): Promise<Content> {
  try {
    return await tables.execute(operation, JSON.parse(JSON.stringify(input)))
  } catch (error) {
    if (!(error instanceof DynamoDbFailure)) throw error
    const $metadata = { httpStatusCode: error.statusCode }
    if (error.is('ConditionalCheckFailedException')) {
      throw new ConditionalCheckFailedException({ message: error.message, $metadata, Item: error.body.Item as never })
    }
    const name = String(error.body.__type).replace(/.*#/, '')
    throw Object.assign(new Error(`${error.message} (${operation})`), { name, $metadata })
  }
}
