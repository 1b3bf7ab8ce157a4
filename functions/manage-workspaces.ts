import { erasures, keyAdministration, ledger, open, workspaces } from '../lib/aws/stores.ts'
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
    ...open({ apiKeys: keyAdministration, erasures, ledger, workspaces }, stores),
  },
})
