import type { ProtocolDependencies } from './dependencies.ts'
import { endDeletion } from './delete-document.ts'
import type { Release, Taking, WorkspaceLedger } from './ports/ledger.ts'

/** Whether a process has left a marker: no live one is this old. */
export function hasLeftovers({ takings, releases }: WorkspaceLedger, nowMs: number): boolean {
  return [...takings, ...releases].some(({ leaseEndsAtMs }) => leaseEndsAtMs <= nowMs)
}

/**
 * Ends what the markers of a ledger stand for, by what their documents say. Harmless at any moment, also beside the
 * processes whose markers they are: age only saves reads.
 * @param ledger read before this is called: a document that is read later says what became of the marker
 */
export async function cleanMarkers(
  ledger: WorkspaceLedger,
  deps: ProtocolDependencies,
  signal: AbortSignal,
): Promise<void> {
  for (const taking of ledger.takings) await cleanTaking(taking, deps, signal)
  for (const release of ledger.releases) await cleanRelease(release, ledger.version, deps, signal)
}

async function cleanTaking(
  taking: Taking,
  { documents, ledger }: ProtocolDependencies,
  signal: AbortSignal,
): Promise<void> {
  const document = await documents.find(taking, signal)
  if (document?.attemptId !== taking.attemptId) return ledger.untake(taking, signal)
  if (document.state === 'ready') return ledger.unmark(taking, signal)
  // Pending: the undo's. Deleting: giving back removes it.
  if (document.state === 'gone') return ledger.untake(taking, signal)
}

async function cleanRelease(
  { releaseId, ...release }: Release,
  markedIn: number,
  deps: ProtocolDependencies,
  signal: AbortSignal,
): Promise<void> {
  const document = await deps.documents.find(release, signal)
  if (document?.state === 'deleting' && document.attemptId === release.attemptId) {
    const releasedBy = document.releasedBy ?? (await deps.documents.handOver(document, { releaseId, markedIn }, signal))
    if (releasedBy === releaseId) return void (await endDeletion({ ...document, releasedBy }, deps, signal))
  }
  await deps.ledger.unmarkRelease({ ...release, releaseId }, signal)
}
