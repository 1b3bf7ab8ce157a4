import { createDocumentListing } from '../lib/aws/document-listing.ts'
import { createDocumentRecords } from '../lib/aws/document-records.ts'
import { createObjectStore } from '../lib/aws/object-store.ts'
import { createQuotaLedger } from '../lib/aws/quota-ledger.ts'
import { createReservations } from '../lib/aws/reservations.ts'
import { createDeleteDocumentHandler } from '../lib/http/delete-document.ts'
import { wireApi } from './wiring/wire-api.ts'

const { config, api, documentsTable, reservationsTable, workspacesTable, buckets } = wireApi('delete-document')

export const handler = createDeleteDocumentHandler({
  ...api,
  documents: createDocumentRecords(documentsTable),
  listing: createDocumentListing(documentsTable),
  ledger: createQuotaLedger(workspacesTable),
  reservations: createReservations(reservationsTable),
  objects: createObjectStore(buckets),
  leaseMs: config.leaseMs,
})
