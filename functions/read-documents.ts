import { documentObjects, documents, downloads, ledger, links, listing, open } from '../lib/aws/stores.ts'
import { readVariables } from '../lib/config.ts'
import { createReadDocumentsHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('read-documents')

export const handler = createReadDocumentsHandler({
  ...api,
  ...readVariables(process.env, { linkDays: { default: 7, min: 1, max: 365 }, linksUrl: { default: '' } }),
  ...open({ documents, listing, ledger, documentObjects, downloads, links }, stores),
})
