import { documentObjects, documents, downloads, ledger, links, open } from '../lib/aws/stores.ts'
import { createOpenLinkHandler } from '../lib/http/open-link-handler.ts'
import { wire } from './wiring/wire.ts'

const { stores, log, metrics } = wire('open-link')

export const handler = createOpenLinkHandler({
  ...{ log, metrics, now: stores.now },
  ...open({ links, documents, ledger, documentObjects, downloads }, stores),
})
