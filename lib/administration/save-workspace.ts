import type { ApiKeyAdministration } from '../auth/api-key-administration.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Retention } from '../ledger/expiry.ts'
import type { Ledger, WorkspaceLedger, WorkspaceSettings } from '../ledger/ports/ledger.ts'
import type { LedgerMaintenance } from '../ledger/ports/ledger-maintenance.ts'

export interface WorkspaceDependencies {
  ledger: Pick<Ledger, 'read'>
  workspaces: Pick<LedgerMaintenance, 'create' | 'change' | 'remove' | 'readAll'>
  apiKeys: ApiKeyAdministration
  defaultQuotaBytes: number
  now(): number
}

const TRIES = 3

/**
 * Makes a workspace, or changes the settings that are named. May be repeated.
 * @param to undefined members are taken away @param check throws for settings that do not fit together
 * @throws ServiceError workspace_busy: others changed the same settings at the same moment
 */
export async function saveWorkspace(
  workspaceId: WorkspaceId,
  { to, check }: { to: Partial<WorkspaceSettings>; check(times: Retention): void },
  deps: WorkspaceDependencies,
  signal: AbortSignal,
): Promise<{ ledger: WorkspaceLedger; isNew: boolean }> {
  const { workspaces, defaultQuotaBytes } = deps
  const made = { quotaBytes: defaultQuotaBytes, ...to }
  for (let tries = 0; tries < TRIES; tries++) {
    const known = await deps.ledger.read(workspaceId, signal)
    const wanted = withBothTimes(to, known ?? made)
    check(wanted)
    let ledger: WorkspaceLedger
    if (known === undefined) {
      const created = await workspaces.create(workspaceId, made, signal)
      // Another call has just made it, perhaps with times that these do not fit.
      if (!created.isNew) continue
      ledger = created.ledger
    } else {
      const isChange = Object.keys(to).length > 0
      const saved = isChange ? await workspaces.change(workspaceId, { shown: known, to: wanted }, signal) : known
      if (saved === 'changed' || saved === undefined) continue
      ledger = saved
    }
    // Also if nothing is new: an earlier try may have been interrupted here.
    if ('requestsPerMinute' in to) await limitKeys(workspaceId, deps, signal)
    return { ledger, isNew: known === undefined }
  }
  throw new ServiceError('workspace_busy')
}

/** The times have to fit together, so whoever changes the one relies on the other. */
function withBothTimes(to: Partial<WorkspaceSettings>, { expireAfterSeconds, expireAtMostSeconds }: Retention) {
  const isOfTimes = 'expireAfterSeconds' in to || 'expireAtMostSeconds' in to
  return isOfTimes ? { expireAfterSeconds, expireAtMostSeconds, ...to } : to
}

/**
 * Gives the keys of a workspace its limit. Whoever changes the one or adds the other looks at the other afterwards, so
 * the last of them sees both.
 */
export async function limitKeys(
  workspaceId: WorkspaceId,
  { ledger, apiKeys }: Pick<WorkspaceDependencies, 'ledger' | 'apiKeys'>,
  signal: AbortSignal,
): Promise<void> {
  const read = async () => (await ledger.read(workspaceId, signal))?.requestsPerMinute
  let given: number | undefined
  let limit = await read()
  do {
    given = limit
    for await (const key of apiKeys.list({ workspaceId }, signal)) {
      const change = { workspaceRequestsPerMinute: given }
      if (!('error' in key) && key.workspaceRequestsPerMinute !== given) await apiKeys.change(key.keyId, change, signal)
    }
    limit = await read()
  } while (limit !== given)
}
