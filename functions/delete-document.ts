import { documents, ledger, objects } from '../lib/aws/stores.ts'
import { createDeleteDocumentHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('delete-document')

export const handler = createDeleteDocumentHandler({
  ...api,
  documents: documents(stores),
  ledger: ledger(stores),
  objects: objects(stores),
})
