import { createDocumentRecords } from '../lib/aws/dynamodb/document-records.ts'
import { createQuotaLedger } from '../lib/aws/dynamodb/quota-ledger.ts'
import { createReservations } from '../lib/aws/dynamodb/reservations.ts'
import { createObjectStore } from '../lib/aws/s3/object-store.ts'
import { createDeleteDocumentHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, reservationsTable, workspacesTable, buckets } = wireApi('delete-document')

export const handler = createDeleteDocumentHandler({
  ...api,
  documents: createDocumentRecords(documentsTable),
  quota: createQuotaLedger(workspacesTable),
  reservations: createReservations(reservationsTable),
  objects: createObjectStore(buckets),
})
