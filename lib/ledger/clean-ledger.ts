import type { LedgerDependencies } from './dependencies.ts'
import { endDeletion } from './end-deletion.ts'
import type { Hold, Refund, WorkspaceLedger } from './ports/ledger.ts'

/** Whether a hold or refund has outlived its lease, so that its process must be dead. */
export function hasLeftovers({ holds, refunds }: WorkspaceLedger, nowMs: number): boolean {
  return [...holds, ...refunds].some(({ leaseEndsAtMs }) => leaseEndsAtMs <= nowMs)
}

/** Cleans a ledger in which a process has left something. @param ledger as for {@link cleanLedger} @returns whether it has */
export async function cleanLeftovers(
  ledger: WorkspaceLedger | undefined,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  if (ledger === undefined || !hasLeftovers(ledger, deps.now())) return false
  await cleanLedger(ledger, deps, signal)
  return true
}

/** Leftovers may fill every place, and nobody else would notice. @returns whether another try may find a place */
export async function freePlaces(
  ledger: WorkspaceLedger | undefined | Promise<WorkspaceLedger | undefined>,
  deps: LedgerDependencies,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await cleanLeftovers(await ledger, deps, signal)
  } catch (error) {
    deps.log.warn('leftovers in the ledger not ended, left to others', { error })
    return false
  }
}

/**
 * Ends the holds and refunds in a ledger, as their documents tell. Safe at any time, even while their processes run:
 * checking their age only saves reads. One that cannot be ended does not stop the others.
 * @param ledger must be read first: a document that is read after it tells what became of each
 */
export async function cleanLedger(ledger: WorkspaceLedger, deps: LedgerDependencies, signal: AbortSignal) {
  const failures: unknown[] = []
  const tryTo = (cleaning: Promise<void>) => cleaning.catch((error) => void failures.push(error))
  for (const hold of ledger.holds) await tryTo(cleanHold(hold, deps, signal))
  for (const refund of ledger.refunds) await tryTo(cleanRefund(refund, ledger.version, deps, signal))
  if (failures.length > 0) throw failures[0]
}

async function cleanHold(hold: Hold, { documents, ledger }: LedgerDependencies, signal: AbortSignal): Promise<void> {
  const document = await documents.find(hold, signal)
  const state = document?.attemptId === hold.attemptId ? document.state : 'gone'
  // Pending: its undo frees the bytes. Deleting: its refund does.
  if (state === 'ready') await ledger.capture(hold, signal)
  else if (state === 'gone') await ledger.void(hold, signal)
}

async function cleanRefund(refund: Refund, refundVersion: number, deps: LedgerDependencies, signal: AbortSignal) {
  const { refundId, attemptId } = refund
  const document = await deps.documents.find(refund, signal)
  if (document?.state === 'deleting' && document.attemptId === attemptId) {
    const named = document.refundId ?? (await deps.documents.nameRefund(document, { refundId, refundVersion }, signal))
    if (named === refundId) return void (await endDeletion(document, async () => refundId, deps, signal))
  }
  await deps.ledger.cancelRefund(refund, signal)
}
