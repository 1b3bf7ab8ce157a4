import type { LedgerDependencies } from './dependencies.ts'
import { endDeletion } from './end-deletion.ts'
import type { Release, Taking, WorkspaceLedger } from './ports/ledger.ts'

/** Whether a process has left a marker: no live one is this old. */
export function hasLeftovers({ takings, releases }: WorkspaceLedger, nowMs: number): boolean {
  return [...takings, ...releases].some(({ leaseEndsAtMs }) => leaseEndsAtMs <= nowMs)
}

/** Cleans a ledger in which a process has left markers. @param ledger as for {@link cleanMarkers} @returns whether it has */
export async function cleanLeftovers(
  ledger: WorkspaceLedger | undefined,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  if (ledger === undefined || !hasLeftovers(ledger, deps.now())) return false
  await cleanMarkers(ledger, deps, signal)
  return true
}

/** Cleans a crowded ledger. If that fails, it is as crowded as it was. @returns whether another try may find a place */
export async function freePlaces(
  ledger: WorkspaceLedger | undefined | Promise<WorkspaceLedger | undefined>,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await cleanLeftovers(await ledger, deps, signal)
  } catch (error) {
    deps.log.warn('markers not removed, left to others', { error })
    return false
  }
}

/**
 * Ends what the markers of a ledger stand for, by what their documents say. Harmless at any moment, also beside the
 * processes whose markers they are: age only saves reads. One that cannot be ended does not stop the others.
 * @param ledger read before this is called: a document that is read later says what became of the marker
 */
export async function cleanMarkers(
  ledger: WorkspaceLedger,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = []
  const tryTo = (cleaning: Promise<void>) => cleaning.catch((error) => void failures.push(error))
  for (const taking of ledger.takings) await tryTo(cleanTaking(taking, deps, signal))
  for (const release of ledger.releases) await tryTo(cleanRelease(release, ledger.version, deps, signal))
  if (failures.length > 0) throw failures[0]
}

async function cleanTaking(
  taking: Taking,
  { documents, ledger }: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const document = await documents.find(taking, signal)
  const state = document?.attemptId === taking.attemptId ? document.state : 'gone'
  // Pending: its undo gives them back. Deleting: its release does.
  if (state === 'ready') await ledger.unmark(taking, signal)
  else if (state === 'gone') await ledger.giveBack(taking, signal)
}

async function cleanRelease(
  { releaseId, ...release }: Release,
  markedIn: number,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const document = await deps.documents.find(release, signal)
  if (document?.state === 'deleting' && document.attemptId === release.attemptId) {
    const releasedBy = document.releasedBy ?? (await deps.documents.handOver(document, { releaseId, markedIn }, signal))
    if (releasedBy === releaseId) return void (await endDeletion(document, async () => releaseId, deps, signal))
  }
  await deps.ledger.unmark({ ...release, releaseId }, signal)
}
