import type { WorkspaceId } from '../ids.ts'
import type { OpenReservation, WorkspaceLedger } from '../promotion/ports.ts'
import type { AuditDependencies } from './audit-workspace.ts'
import type { DocumentRow } from './ports.ts'

/** What adding a workspace up carries from slice to slice: plain JSON. */
export interface UsageState {
  workspaceId: WorkspaceId
}

/** Why a workspace could not be added up. */
export type NotAddedUpReason = 'restless' | 'unreadable'

export type UsageResult =
  | { outcome: 'agrees' }
  /** The rows are to be read once more, from the first. */
  | { outcome: 'again'; state: UsageState }
  | { outcome: 'drift'; usedBytes: number; expectedBytes: number; correct(): Promise<boolean> }
  | { outcome: 'not_added_up'; reason: NotAddedUpReason }

const MAX_ADDING_UP = 3

/** Before the first row is read. */
export async function beginUsage(
  workspaceId: WorkspaceId,
  _deps: AuditDependencies,
  _signal: AbortSignal,
): Promise<UsageState> {
  return { workspaceId }
}

/** For each row of Documents, once. `add` changes the state. */
export function usageSum(_state: UsageState): { add(row: DocumentRow): void } {
  return { add() {} }
}

/** After the last row. Adds the documents up again, until nothing changes meanwhile, and compares the sum with what is counted. */
export async function endUsage(
  { workspaceId }: UsageState,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<UsageResult> {
  for (let tries = 0; tries < MAX_ADDING_UP; tries++) {
    const before = await deps.ledgers.read(workspaceId, signal)
    const expectedBytes = await addUp(workspaceId, before, deps, signal)
    const after = await deps.ledgers.read(workspaceId, signal)
    if (before?.version !== after?.version) continue
    const usedBytes = after?.usedBytes ?? 0
    if (usedBytes === expectedBytes) return { outcome: 'agrees' }
    const correct = () =>
      deps.ledgers.correct(workspaceId, { usedBytes: expectedBytes, version: after?.version }, signal)
    return { outcome: 'drift', usedBytes, expectedBytes, correct }
  }
  return { outcome: 'not_added_up', reason: 'restless' }
}

/**
 * The bytes of all attempts that hold some, each once (docs/reliability.md, "Who holds the bytes"). Reservations are read
 * before documents: an attempt goes from one to the other without a change of the ledger.
 */
async function addUp(
  workspaceId: WorkspaceId,
  ledger: WorkspaceLedger | undefined,
  deps: AuditDependencies,
  signal: AbortSignal,
): Promise<number> {
  const { takings = [], releases = [] } = ledger ?? {}
  const held = new Map(takings.map(({ attemptId, sizeBytes }) => [attemptId, sizeBytes]))
  const reservations: OpenReservation[] = []
  for await (const reservation of deps.reservations.list(workspaceId, signal)) reservations.push(reservation)
  for (const { attemptId, sizeBytes, closedBy } of reservations) {
    const isReleased = closedBy && !releases.some(({ releaseId }) => releaseId === closedBy)
    if (!isReleased && sizeBytes > 0) held.set(attemptId, sizeBytes)
  }
  let documentBytes = 0
  const recorded = new Set<string>()
  for await (const { attemptId, sizeBytes } of deps.documents.list(workspaceId, signal)) {
    documentBytes += sizeBytes
    held.delete(attemptId)
    recorded.add(attemptId)
  }
  for (const release of releases) {
    const mayHold = release.purpose === 'deletion' && !recorded.has(release.attemptId)
    if (mayHold && (await deps.documents.isRetiredBy(release, signal))) held.set(release.attemptId, release.sizeBytes)
  }
  return [...held.values()].reduce((sum, sizeBytes) => sum + sizeBytes, documentBytes)
}
