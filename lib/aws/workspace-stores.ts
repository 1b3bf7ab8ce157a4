import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Config } from '../config.ts'
import { createObjectKeys } from '../object-keys.ts'
import { createDocumentExpiries } from './dynamodb/document-expiries.ts'
import { createDocumentMaintenance } from './dynamodb/document-maintenance.ts'
import { createDocumentRecords } from './dynamodb/document-records.ts'
import { createLedgerMaintenance } from './dynamodb/ledger-maintenance.ts'
import { createQuotaLedger } from './dynamodb/quota-ledger.ts'
import { createReservations } from './dynamodb/reservations.ts'
import { createTableWorkspaces } from './dynamodb/table-workspaces.ts'
import { createObjectStore } from './s3/object-store.ts'

/** The stores of those that look after whole workspaces: resolver, audit and command line. */
export function createWorkspaceStores({
  config,
  dynamoDb: client,
  s3,
  now,
}: {
  config: Config
  dynamoDb: DynamoDBClient
  s3: S3Client
  now(): number
}) {
  const { workspacesTable, documentsTable, reservationsTable } = config
  const ledgerSettings = { ...config, client, tableName: workspacesTable, now }
  const documents = { client, tableName: documentsTable, now }
  const reservations = { client, tableName: reservationsTable }
  return {
    workspaces: createLedgerMaintenance(ledgerSettings),
    quota: createQuotaLedger(ledgerSettings),
    reservations: {
      ...createReservations(reservations),
      ...createTableWorkspaces({ ...reservations, sortKey: 'reservation_id', name: 'reservations' }),
    },
    documents: {
      ...createDocumentRecords(documents),
      ...createDocumentMaintenance(documents),
      ...createTableWorkspaces({ ...documents, sortKey: 'document_id', name: 'documents' }),
    },
    expiries: createDocumentExpiries(documents),
    objects: createObjectStore({ ...config, client: s3 }),
    objectKeys: createObjectKeys(config.keyTemplates),
    leaseMs: config.leaseMs,
    now,
  }
}
