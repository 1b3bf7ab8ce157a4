import { createDocumentExpiries } from '../lib/aws/dynamodb/document-expiries.ts'
import { createDocumentRecords } from '../lib/aws/dynamodb/document-records.ts'
import { createQuotaLedger } from '../lib/aws/dynamodb/quota-ledger.ts'
import { createReservations } from '../lib/aws/dynamodb/reservations.ts'
import { createContainerFiles } from '../lib/aws/s3/container-files.ts'
import { createObjectStore } from '../lib/aws/s3/object-store.ts'
import { createPromoteContainerFileHandler } from '../lib/http/promotion-handler.ts'
import { createAdmission } from '../lib/promotion/admission.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, reservationsTable, workspacesTable, buckets } = wireApi('promote-container-file')

export const handler = createPromoteContainerFileHandler({
  ...api,
  quota: createQuotaLedger(workspacesTable),
  reservations: createReservations(reservationsTable),
  documents: createDocumentRecords(documentsTable),
  expiries: createDocumentExpiries(documentsTable),
  objects: createObjectStore(buckets),
  containerFiles: createContainerFiles(buckets),
  admission: createAdmission(api),
})
