import { documentObjects, documents, downloads, ledger, listing } from '../lib/aws/stores.ts'
import { createReadDocumentsHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('read-documents')

export const handler = createReadDocumentsHandler({
  ...api,
  documents: documents(stores),
  listing: listing(stores),
  ledger: ledger(stores),
  documentObjects: documentObjects(stores),
  downloads: downloads(stores),
})
