import type { WorkspaceId } from '../../../lib/ids.ts'
import { CommandError } from '../command-error.ts'
import type { Stores } from '../connect.ts'

type WithLedger = Pick<Stores, 'ledger'>

/** For commands that need the ledger or have found nothing: keys may be there without it. @throws CommandError without it */
export async function requireWorkspace(workspaceId: WorkspaceId, { ledger }: WithLedger, signal: AbortSignal) {
  const found = await ledger.read(workspaceId, signal)
  if (found !== undefined) return found
  const hint = '"workspaces list" shows those there are; "workspaces create" makes it, or its first promotion'
  throw new CommandError('workspace_not_found', `There is no workspace ${workspaceId}: ${hint}.`)
}
