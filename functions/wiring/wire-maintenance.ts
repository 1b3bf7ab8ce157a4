import { createDynamoDbClient, createS3Client } from '../../lib/aws/clients.ts'
import { createDocumentRecords } from '../../lib/aws/document-records.ts'
import { createLedgerMaintenance } from '../../lib/aws/ledger-maintenance.ts'
import { createObjectStore } from '../../lib/aws/object-store.ts'
import { createQuotaLedger } from '../../lib/aws/quota-ledger.ts'
import { createReservations } from '../../lib/aws/reservations.ts'
import { createTableWorkspaces } from '../../lib/aws/table-workspaces.ts'
import { readConfig } from '../../lib/config.ts'
import { createLog } from '../../lib/logging.ts'
import { createMetrics } from '../../lib/metrics.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'

/** What the scheduled functions share: all stores of a workspace, by clients that name the function in their user agent. */
export function wireMaintenance(functionName: string) {
  const config = readConfig(process.env)
  const now = Date.now
  const client = createDynamoDbClient({ userAgentAppId: functionName })
  const s3 = createS3Client({ userAgentAppId: functionName, forcePathStyle: config.s3ForcePathStyle })
  const ledgerSettings = { ...config, client, tableName: config.workspacesTable, now }
  const log = createLog({ ...config, functionName })
  return {
    config,
    clients: { dynamoDb: client, s3 },
    log,
    metrics: createMetrics(config.serviceName),
    dependencies: {
      ledgers: createLedgerMaintenance(ledgerSettings),
      ledger: createQuotaLedger(ledgerSettings),
      reservations: {
        ...createReservations({ client, tableName: config.reservationsTable }),
        ...createTableWorkspaces({
          client,
          tableName: config.reservationsTable,
          sortKey: 'reservation_id',
          name: 'reservations',
        }),
      },
      documents: {
        ...createDocumentRecords({ client, tableName: config.documentsTable, now }),
        ...createTableWorkspaces({
          client,
          tableName: config.documentsTable,
          sortKey: 'document_id',
          name: 'documents',
        }),
      },
      objects: createObjectStore({ ...config, client: s3 }),
      objectKeys: createObjectKeys(config.keyTemplates),
      leaseMs: config.leaseMs,
      now,
      log,
    },
  }
}
