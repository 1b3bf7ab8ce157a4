import { createDocumentListing } from '../lib/aws/document-listing.ts'
import { createDocumentObjects } from '../lib/aws/document-objects.ts'
import { createDocumentRecords } from '../lib/aws/document-records.ts'
import { createDownloadSigner } from '../lib/aws/download-signer.ts'
import { createQuotaLedger } from '../lib/aws/quota-ledger.ts'
import { createReadDocumentsHandler } from '../lib/http/read-documents.ts'
import { wireApi } from './wiring/wire-api.ts'

const { api, documentsTable, workspacesTable, buckets } = wireApi('read-documents')

export const handler = createReadDocumentsHandler({
  ...api,
  documents: createDocumentRecords(documentsTable),
  listing: createDocumentListing(documentsTable),
  ledger: createQuotaLedger(workspacesTable),
  documentObjects: createDocumentObjects(buckets),
  downloads: createDownloadSigner(buckets),
})
