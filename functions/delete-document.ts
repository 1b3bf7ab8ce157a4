import { createDocuments } from '../lib/aws/dynamodb/documents.ts'
import { createLedger } from '../lib/aws/dynamodb/ledger.ts'
import { createObjectStore } from '../lib/aws/s3/object-store.ts'
import { createDeleteDocumentHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, documentsTable, workspacesTable, buckets } = wireApi('delete-document')

export const handler = createDeleteDocumentHandler({
  ...api,
  documents: createDocuments(documentsTable),
  ledger: createLedger(workspacesTable),
  objects: createObjectStore(buckets),
})
