import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { freePlaces } from '../ledger/clean-ledger.ts'
import type { Hold, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { AttemptRequest, PromotionDependencies } from './promotion.ts'
import { whyRefused } from './room.ts'

/** A promotion that does not get through to the ledger within this time is refused. */
const RETRY_FOR_MS = 6000
/** With so many holds before its copy, more wait than can get through, and their retries would starve the captures. */
const CROWDED_HOLDS = 8
const RETRY_CROWDED_FOR_MS = 1000

/** Refuses before the copy, without a call, what a crowded ledger would refuse. @throws ServiceError too_many_promotions */
export function requireAdmission(workspaceId: WorkspaceId, deps: Pick<PromotionDependencies, 'admission'>): void {
  if (deps.admission.decide(workspaceId) !== 'refuse') return
  // It counts as if the ledger had been asked.
  deps.admission.count(workspaceId, false)
  throw tooMany(workspaceId, deps)
}

/** @returns the ledger that counts the bytes, or why there is no hold on them; after an error there may be one */
export async function holdBytes(
  hold: Hold,
  { deadline, telemetry, room }: Pick<AttemptRequest, 'deadline' | 'telemetry' | 'room'>,
  deps: PromotionDependencies,
): Promise<WorkspaceLedger | ServiceError> {
  const { workspaceId, sizeBytes } = hold
  // A new process knows nothing of the load: the ledger that it read before the copy tells it, without a call.
  const { holds = [] } = (await room.ledger()) ?? {}
  const patienceMs = holds.length < CROWDED_HOLDS ? RETRY_FOR_MS : RETRY_CROWDED_FOR_MS
  // After a copy, the ledger is tried at least once.
  const retryForMs = deps.admission.decide(workspaceId) === 'retry' ? patienceMs : 0
  const tryFor = (forMs: number) => telemetry.time('hold', () => deps.ledger.hold(hold, deadline.signal, forMs))
  let tried = await tryFor(retryForMs)
  if (tried.outcome === 'crowded' && (await freePlaces(tried.ledger, deps, deadline.signal))) tried = await tryFor(0)
  deps.admission.count(workspaceId, tried.outcome !== 'crowded')
  if (tried.outcome === 'crowded') return tooMany(workspaceId, deps)
  room.see(tried.ledger)
  return tried.outcome === 'held' ? tried.ledger : whyRefused(tried.ledger, sizeBytes)
}

function tooMany(workspaceId: WorkspaceId, { admission }: Pick<PromotionDependencies, 'admission'>): ServiceError {
  return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
}
