import { documentObjects, documents, downloads, ledger, links } from '../lib/aws/stores.ts'
import { createOpenLinkHandler } from '../lib/http/open-link-handler.ts'
import { wire } from './wiring/wire.ts'

const { stores, log, metrics } = wire('open-link')

export const handler = createOpenLinkHandler({
  ...{ log, metrics, now: stores.now },
  links: links(stores),
  documents: documents(stores),
  ledger: ledger(stores),
  documentObjects: documentObjects(stores),
  downloads: downloads(stores),
})
