import type { ApiKeyAdministration } from '../auth/api-key-administration.ts'
import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import type { Erasure, Ledger, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { LedgerMaintenance } from '../ledger/ports/ledger-maintenance.ts'
import type { Erasures } from './ports/erasures.ts'

export interface RequestErasureDependencies {
  ledger: Pick<Ledger, 'read'>
  workspaces: Pick<LedgerMaintenance, 'create'>
  erasures: Pick<Erasures, 'change'>
  apiKeys: Pick<ApiKeyAdministration, 'list'>
  defaultQuotaBytes: number
  /** No erasure begins earlier, whatever is asked for: a stolen key cannot end every tenant overnight. */
  leastErasureSeconds: number
  now(): number
}

export type ClosedLedger = WorkspaceLedger & { erasure: Erasure }

const TRIES = 3

/**
 * Closes a workspace and has it erased later. Of two times, the earlier holds; one that has begun goes on.
 * @throws ServiceError workspace_not_found: there is neither a ledger nor a key; workspace_busy
 */
export async function requestErasure(
  workspaceId: WorkspaceId,
  { afterSeconds }: { afterSeconds: number },
  deps: RequestErasureDependencies,
  signal: AbortSignal,
): Promise<ClosedLedger> {
  const requestedAtMs = deps.now()
  const beginsAtMs = requestedAtMs + 1000 * Math.max(afterSeconds, deps.leastErasureSeconds)
  for (let tries = 0; tries < TRIES; tries++) {
    const known = (await deps.ledger.read(workspaceId, signal)) ?? (await makeIfItHasKeys(workspaceId, deps, signal))
    const { erasure: shown } = known
    if (shown && (shown.state !== 'scheduled' || shown.beginsAtMs <= beginsAtMs)) return { ...known, erasure: shown }
    const to = { requestedAtMs, ...shown, state: 'scheduled' as const, beginsAtMs, dueAtMs: beginsAtMs }
    if (await deps.erasures.change(workspaceId, { shown, to }, signal)) return { ...known, erasure: to }
  }
  throw new ServiceError('workspace_busy')
}

/** Keys could make the workspace by a promotion, so it has to be closed as any other. @throws ServiceError workspace_not_found */
async function makeIfItHasKeys(
  workspaceId: WorkspaceId,
  { apiKeys, workspaces, defaultQuotaBytes: quotaBytes }: RequestErasureDependencies,
  signal: AbortSignal,
): Promise<WorkspaceLedger> {
  for await (const _ of apiKeys.list({ workspaceId, limit: 1 }, signal))
    return (await workspaces.create(workspaceId, { quotaBytes }, signal)).ledger
  throw new ServiceError('workspace_not_found')
}

/** @throws ServiceError workspace_not_found, erasure_not_found */
export async function findErasure(
  workspaceId: WorkspaceId,
  { ledger }: Pick<RequestErasureDependencies, 'ledger'>,
  signal: AbortSignal,
): Promise<ClosedLedger> {
  const found = await ledger.read(workspaceId, signal)
  if (found === undefined) throw new ServiceError('workspace_not_found')
  if (found.erasure === undefined) throw new ServiceError('erasure_not_found')
  return { ...found, erasure: found.erasure }
}

/** Opens the workspace again. @throws ServiceError workspace_not_found, erasure_not_found, erasure_began, workspace_busy */
export async function cancelErasure(
  workspaceId: WorkspaceId,
  deps: Pick<RequestErasureDependencies, 'ledger' | 'erasures'>,
  signal: AbortSignal,
): Promise<void> {
  const { erasure: shown } = await findErasure(workspaceId, deps, signal)
  if (shown.state !== 'scheduled') throw new ServiceError('erasure_began')
  if (!(await deps.erasures.change(workspaceId, { shown, to: undefined }, signal)))
    throw new ServiceError('workspace_busy')
}
