import { createDocumentListing } from '../lib/aws/dynamodb/document-listing.ts'
import { createDocumentRecords } from '../lib/aws/dynamodb/document-records.ts'
import { createQuotaLedger } from '../lib/aws/dynamodb/quota-ledger.ts'
import { createDocumentObjects } from '../lib/aws/s3/document-objects.ts'
import { createDownloadSigner } from '../lib/aws/s3/download-signer.ts'
import { createReadDocumentsHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, workspacesTable, buckets } = wireApi('read-documents')

export const handler = createReadDocumentsHandler({
  ...api,
  documents: createDocumentRecords(documentsTable),
  listing: createDocumentListing(documentsTable),
  quota: createQuotaLedger(workspacesTable),
  documentObjects: createDocumentObjects(buckets),
  downloads: createDownloadSigner(buckets),
})
