import { openStores, type StoreSettings } from '../../../lib/aws/stores.ts'
import type { Log } from '../../../lib/logging.ts'
import type { Metrics } from '../../../lib/metrics.ts'
import { createAdmission } from '../../../lib/promotion/admission.ts'
import { createHandlers } from '../api/operations.ts'

/** All functions as functions/ composes them. */
export function composeFunctions({ log, metrics, ...on }: StoreSettings & { log: Log; metrics: Metrics }) {
  const { config, now } = on
  const stores = openStores(on)
  const settings = { ...config, leastErasureSeconds: 0, logRetentionDays: 30 }
  const administration = { ...settings, ...stores, apiKeys: stores.keyAdministration }
  const ofLinks = { linkDays: 7, linksUrl: 'https://files.example/l' }
  const deps = { ...config, ...ofLinks, ...stores, administration, admission: createAdmission({ now }), log, metrics }
  return { deps, handlers: createHandlers(deps) }
}
