import { createDocumentExpiries } from '../../../lib/aws/dynamodb/document-expiries.ts'
import { createDocumentListing } from '../../../lib/aws/dynamodb/document-listing.ts'
import { createDocumentMaintenance } from '../../../lib/aws/dynamodb/document-maintenance.ts'
import { createDocumentRecords } from '../../../lib/aws/dynamodb/document-records.ts'
import { createLedgerMaintenance } from '../../../lib/aws/dynamodb/ledger-maintenance.ts'
import { createQuotaLedger } from '../../../lib/aws/dynamodb/quota-ledger.ts'
import { createReservations } from '../../../lib/aws/dynamodb/reservations.ts'
import { createWorkspaceAdministration } from '../../../lib/aws/dynamodb/workspace-administration.ts'
import { createWorkspaceRemoval } from '../../../lib/aws/dynamodb/workspace-removal.ts'
import { LEDGER_NOW_MS, LEDGER_SETTINGS } from './ledger-values.ts'
import type { StandIns } from './stand-ins.ts'

/** The adapters on a DynamoDB with the tables of the configuration. @param now the clock of the documents */
export function openTableStores(
  { dynamoDb: client, config }: Pick<StandIns, 'dynamoDb' | 'config'>,
  now: () => number = () => LEDGER_NOW_MS,
) {
  const ledger = { ...LEDGER_SETTINGS, client, tableName: config.workspacesTable }
  const documents = { client, tableName: config.documentsTable, now }
  return {
    ledger: {
      ...createQuotaLedger(ledger),
      ...createLedgerMaintenance(ledger),
      ...createWorkspaceAdministration(ledger),
    },
    removal: createWorkspaceRemoval(ledger),
    reservations: createReservations({ client, tableName: config.reservationsTable }),
    documents: { ...createDocumentRecords(documents), ...createDocumentMaintenance(documents) },
    listing: createDocumentListing(documents),
    expiries: createDocumentExpiries(documents),
  }
}
