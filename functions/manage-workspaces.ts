import { createApiKeyAdministration } from '../lib/aws/dynamodb/api-key-administration.ts'
import { createLedger } from '../lib/aws/dynamodb/ledger.ts'
import { createLedgerMaintenance } from '../lib/aws/dynamodb/ledger-maintenance.ts'
import { createManageWorkspacesHandler } from '../lib/http/handlers.ts'
import { wireApi } from './wiring/wire.ts'

const { api, keysTable, workspacesTable } = wireApi('manage-workspaces')

export const handler = createManageWorkspacesHandler({
  ...api,
  administration: {
    ...workspacesTable,
    apiKeys: createApiKeyAdministration(keysTable),
    ledger: createLedger(workspacesTable),
    workspaces: createLedgerMaintenance(workspacesTable),
  },
})
