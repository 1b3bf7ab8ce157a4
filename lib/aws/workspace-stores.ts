import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Config } from '../config.ts'
import { createObjectKeys } from '../object-keys.ts'
import { createDocumentMaintenance } from './dynamodb/document-maintenance.ts'
import { createDocuments } from './dynamodb/documents.ts'
import { createDueWork } from './dynamodb/due-work.ts'
import { createLedger } from './dynamodb/ledger.ts'
import { createLedgerMaintenance } from './dynamodb/ledger-maintenance.ts'
import { createObjectStore } from './s3/object-store.ts'

/** The stores of those that look after whole workspaces: resolver, audit and command line. */
export function createWorkspaceStores(deps: { config: Config; dynamoDb: DynamoDBClient; s3: S3Client; now(): number }) {
  const { config, dynamoDb: client, s3, now } = deps
  const workspacesTable = { ...config, client, tableName: config.workspacesTable, now }
  const documentsTable = { ...config, client, tableName: config.documentsTable, now }
  return {
    ledger: createLedger(workspacesTable),
    workspaces: createLedgerMaintenance(workspacesTable),
    documents: { ...createDocuments(documentsTable), ...createDocumentMaintenance(documentsTable) },
    dueWork: createDueWork(documentsTable),
    objects: createObjectStore({ ...config, client: s3 }),
    objectKeys: createObjectKeys(config.keyTemplates),
    leaseMs: config.leaseMs,
    now,
  }
}
