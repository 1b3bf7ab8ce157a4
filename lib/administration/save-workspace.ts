import type { ApiKeyAdministration } from '../auth/api-key-administration.ts'
import type { RateLimiter } from '../auth/rate-limit.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Retention } from '../ledger/expiry.ts'
import type { Ledger, WorkspaceLedger, WorkspaceSettings } from '../ledger/ports/ledger.ts'
import type { LedgerMaintenance } from '../ledger/ports/ledger-maintenance.ts'

export interface WorkspaceDependencies {
  ledger: Pick<Ledger, 'read'>
  workspaces: Pick<LedgerMaintenance, 'create' | 'change' | 'remove' | 'readAll'>
  apiKeys: ApiKeyAdministration
  rateLimiter: Pick<RateLimiter, 'setLimits'>
  defaultQuotaBytes: number
  now(): number
}

const TRIES = 3

/** One line, which pages and terminals show as it is. */
export const isLabel = (text: string) => /^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u.test(text)

/**
 * Makes a workspace, or changes the settings that are named. May be repeated.
 * @param wanted.to undefined members are taken away
 * @param wanted.shown only if its settings are still these, or there is still none; omitted: whatever they are
 * @throws ServiceError invalid_body: the times do not fit together; workspace_erased, workspace_busy
 */
export async function saveWorkspace(
  workspaceId: WorkspaceId,
  { to, shown }: { to: Partial<WorkspaceSettings>; shown?: { ledger: WorkspaceLedger | undefined } },
  deps: WorkspaceDependencies,
  signal: AbortSignal,
): Promise<{ ledger: WorkspaceLedger; isNew: boolean }> {
  const { workspaces, defaultQuotaBytes } = deps
  const made = { quotaBytes: defaultQuotaBytes, ...to }
  for (let tries = 0; tries < TRIES; tries++) {
    const known = shown ? shown.ledger : await deps.ledger.read(workspaceId, signal)
    if (known?.erasure && known.erasure.state !== 'scheduled') throw new ServiceError('workspace_erased')
    const wanted = withBothTimes(to, known ?? made)
    requireOrder(wanted)
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
    const isNew = known === undefined
    if (isNew || 'requestsPerMinute' in to || 'isDisabled' in to)
      await deps.rateLimiter.setLimits(workspaceId, ledger, signal)
    return { ledger, isNew }
  }
  throw new ServiceError('workspace_busy')
}

/** The times have to fit together, so whoever changes the one relies on the other. */
function withBothTimes(to: Partial<WorkspaceSettings>, { expireAfterSeconds, expireAtMostSeconds }: Retention) {
  const isOfTimes = 'expireAfterSeconds' in to || 'expireAtMostSeconds' in to
  return isOfTimes ? { expireAfterSeconds, expireAtMostSeconds, ...to } : to
}

function requireOrder({ expireAfterSeconds = 0, expireAtMostSeconds = Number.POSITIVE_INFINITY }: Retention): void {
  if (expireAfterSeconds <= expireAtMostSeconds) return
  const detail = 'expire_after_seconds would be more than expire_at_most_seconds.'
  throw new ServiceError('invalid_body', { detail })
}
