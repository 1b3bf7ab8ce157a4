import { documents, ledger, objects, open } from '../lib/aws/stores.ts'
import { createDeleteDocumentHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('delete-document')

export const handler = createDeleteDocumentHandler({ ...api, ...open({ documents, ledger, objects }, stores) })
