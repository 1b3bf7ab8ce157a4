import { ServiceError } from '../errors.ts'
import type { WorkspaceId } from '../ids.ts'
import { freePlaces } from '../ledger/clean-markers.ts'
import type { Taking, WorkspaceLedger } from '../ledger/ports/ledger.ts'
import type { AttemptRequest, PromotionDependencies } from './promotion.ts'
import { quotaExceeded } from './room.ts'

/** A promotion that does not get through to the ledger within this time is refused. */
const RETRY_FOR_MS = 6000
/** With so many takings before its copy, more wait than can get through, and their retries would starve the unmarks. */
const CROWDED_TAKINGS = 8
const RETRY_CROWDED_FOR_MS = 1000

/** Refuses before the copy, without a call, what a crowded ledger would refuse. @throws ServiceError too_many_promotions */
export function requireAdmission(workspaceId: WorkspaceId, deps: Pick<PromotionDependencies, 'admission'>): void {
  if (deps.admission.decide(workspaceId) !== 'refuse') return
  // It counts as if the ledger had been asked.
  deps.admission.count(workspaceId, false)
  throw tooMany(workspaceId, deps)
}

/** @returns the ledger that counts the bytes, or why they are not taken; after an error it may be unknown whether they are */
export async function takeBytes(
  taking: Taking,
  { deadline, telemetry, room }: Pick<AttemptRequest, 'deadline' | 'telemetry' | 'room'>,
  deps: PromotionDependencies,
): Promise<WorkspaceLedger | ServiceError> {
  const { workspaceId, sizeBytes } = taking
  // A new process knows nothing of the load: the ledger that it read before the copy tells it, without a call.
  const { takings = [] } = (await room.ledger()) ?? {}
  const patienceMs = takings.length < CROWDED_TAKINGS ? RETRY_FOR_MS : RETRY_CROWDED_FOR_MS
  // After a copy, the ledger is tried at least once.
  const retryForMs = deps.admission.decide(workspaceId) === 'retry' ? patienceMs : 0
  const take = (forMs: number) => telemetry.time('take', () => deps.ledger.take(taking, deadline.signal, forMs))
  let taken = await take(retryForMs)
  // Leftovers may take up all places, and who is refused for them is the only one who comes by.
  if (taken.outcome === 'crowded' && (await freePlaces(taken.ledger, deps, deadline.signal))) taken = await take(0)
  deps.admission.count(workspaceId, taken.outcome !== 'crowded')
  if (taken.outcome === 'crowded') return tooMany(workspaceId, deps)
  room.see(taken.ledger)
  return taken.outcome === 'taken' ? taken.ledger : quotaExceeded(taken.ledger, sizeBytes)
}

function tooMany(workspaceId: WorkspaceId, { admission }: Pick<PromotionDependencies, 'admission'>): ServiceError {
  return new ServiceError('too_many_promotions', { retryAfterSeconds: admission.retryAfterSeconds(workspaceId) })
}
