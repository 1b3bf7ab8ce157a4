import { createDocumentRecords } from '../lib/aws/document-records.ts'
import { createObjectStore } from '../lib/aws/object-store.ts'
import { createQuotaLedger } from '../lib/aws/quota-ledger.ts'
import { createReservations } from '../lib/aws/reservations.ts'
import { createPromoteContainerFileHandler } from '../lib/http/promote-container-file.ts'
import { createAdmission } from '../lib/promotion/admission.ts'
import { wireApi } from './wiring/wire-api.ts'

const wired = wireApi('promote-container-file')
const { config, api } = wired

export const handler = createPromoteContainerFileHandler({
  ...api,
  ledger: createQuotaLedger(wired.workspacesTable),
  reservations: createReservations(wired.reservationsTable),
  documents: createDocumentRecords(wired.documentsTable),
  objects: createObjectStore(wired.buckets),
  admission: createAdmission(api),
  objectKeys: wired.objectKeys,
  maxFileBytes: config.maxFileBytes,
  leaseMs: config.leaseMs,
})
