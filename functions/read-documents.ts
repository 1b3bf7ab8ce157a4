import { createDocumentListing } from '../lib/aws/dynamodb/document-listing.ts'
import { createDocuments } from '../lib/aws/dynamodb/documents.ts'
import { createLedger } from '../lib/aws/dynamodb/ledger.ts'
import { createDocumentObjects } from '../lib/aws/s3/document-objects.ts'
import { createDownloadSigner } from '../lib/aws/s3/download-signer.ts'
import { createReadDocumentsHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, workspacesTable, buckets } = wireApi('read-documents')

export const handler = createReadDocumentsHandler({
  ...api,
  documents: createDocuments(documentsTable),
  listing: createDocumentListing(documentsTable),
  ledger: createLedger(workspacesTable),
  documentObjects: createDocumentObjects(buckets),
  downloads: createDownloadSigner(buckets),
})
