import { erasures, keyAdministration, ledger, workspaces } from '../lib/aws/stores.ts'
import { readVariables } from '../lib/config.ts'
import { createManageWorkspacesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('manage-workspaces')

export const handler = createManageWorkspacesHandler({
  ...api,
  administration: {
    ...api,
    ...readVariables(process.env, {
      leastErasureSeconds: { default: 0, min: 0, max: 30 * 86_400 },
      logRetentionDays: { default: 30, min: 1, max: 3653 },
    }),
    apiKeys: keyAdministration(stores),
    erasures: erasures(stores),
    ledger: ledger(stores),
    workspaces: workspaces(stores),
  },
})
