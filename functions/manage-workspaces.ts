import { keyAdministration, ledger, workspaces } from '../lib/aws/stores.ts'
import { createManageWorkspacesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, stores } = wireApi('manage-workspaces')

export const handler = createManageWorkspacesHandler({
  ...api,
  administration: {
    ...api,
    apiKeys: keyAdministration(stores),
    ledger: ledger(stores),
    workspaces: workspaces(stores),
  },
})
