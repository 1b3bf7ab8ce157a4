import { audit } from '../../../lib/audit/audit.ts'
import type { AttemptId } from '../../../lib/ids.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import { resolveExpiredReservations } from '../../../lib/ledger/resolve-expired-reservations.ts'
import { documentIdOfKey } from '../../../lib/promotion/idempotency.ts'
import { workspaceOf } from '../histories/action.ts'
import type { Drifts } from '../histories/drifts.ts'
import type { Process } from '../histories/process.ts'
import type { Processes } from '../histories/processes.ts'
import { promotion, type Work } from '../histories/requests.ts'
import { LEASE_MS, type Stores } from '../histories/stores.ts'
import type { Role, Scenario } from './scenarios.ts'

export const WORKSPACE = workspaceOf(0)
const DAY_MS = 24 * 60 * 60 * 1000
const { signal } = new AbortController()

/** As functions' processes are named (answers.ts). */
const NAMES: Record<Role['kind'], string> = {
  promote: 'promotion',
  delete: 'deletion',
  resolve: 'resolver',
  audit: 'audit',
}

export function nameOf(role: number, roles: readonly Role[]): string {
  const { kind } = roles[role] as Role
  const number = roles.slice(0, role + 1).filter((each) => each.kind === kind).length
  return kind === 'promote' ? `promote ${number}` : `${NAMES[kind]} ${number}`
}

export function workOf(role: Role, stores: Stores, drifts: Drifts): Work {
  switch (role.kind) {
    case 'promote':
      return promotion({ do: 'promote', workspace: 0, file: role.file, key: role.key })
    case 'delete': {
      const documentId = stores.timeline.all.at(-1)?.documentId ?? documentIdOfKey(WORKSPACE, 'key-0')
      return (deps) => deleteDocument({ workspaceId: WORKSPACE, documentId }, deps, signal)
    }
    case 'resolve':
      return (deps) => resolveExpiredReservations({ maxResolutions: 10 }, deps, signal)
    case 'audit':
      return (deps) =>
        drifts.watch(({ onFinding, onNotAddedUp }) => {
          const judge: typeof onFinding = (finding) => {
            if (finding.kind !== 'drift')
              drifts.failure ??= `an audit finds what is in order: ${JSON.stringify(finding)}`
            onFinding(finding)
          }
          const options = { repair: true, deleteLostDocuments: true, onFinding: judge }
          return audit({ ...options, ...(onNotAddedUp && { onNotAddedUp }) }, deps, signal)
        })
  }
}

/** Whether it would find anything to do. */
export function mayBegin(index: number, roles: readonly Role[], { ledger, timeline, nowMs }: Stores): boolean {
  const { kind } = roles[index] as Role
  if (kind === 'delete')
    return timeline.all.length > 0 || roles.some((role) => role.kind === 'promote' && role.key === 0)
  const dueAtMs = ledger.workspaces.get(WORKSPACE)?.checkDueAtMs ?? Number.POSITIVE_INFINITY
  return kind !== 'resolve' || dueAtMs <= nowMs
}

/** Lets nobody else do anything, until it comes to a call for the nth time, or to its end. */
export async function goOn(
  process: Process,
  stores: Stores,
  processes: Processes,
  call?: string,
  nth = 1,
): Promise<void> {
  await processes.settle()
  for (let met = 0; process.isRunning; ) {
    if (process.pending?.name === call && ++met === nth) return
    process.pending?.decide('ok')
    stores.observe()
    await processes.settle()
  }
}

/** Brings about what stands when the scenario begins. */
export async function prepare({ before, drift }: Scenario, stores: Stores, processes: Processes, drifts: Drifts) {
  if (before === 'tombstone') {
    const documentId = documentIdOfKey(WORKSPACE, 'key-0')
    const dead = { workspaceId: WORKSPACE, documentId, attemptId: '1'.repeat(22) as AttemptId }
    await stores.documents.fence({ ...dead, sizeBytes: 10, objectKey: '', leaseExpiresAtMs: 0 }, signal)
    stores.nowMs += DAY_MS - 30_000
  } else if (before !== undefined) {
    const key = before === 'keyed' ? 0 : undefined
    for (const _ of before === 'two' ? [1, 2] : [1]) {
      const work = promotion({ do: 'promote', workspace: 0, file: 0, key })
      await goOn(processes.start('promote before', work), stores, processes)
    }
    const [document] = stores.timeline.all
    if (before === 'noted' && document) {
      const dead = processes.start('deletion before', (deps) => deleteDocument(document, deps, signal))
      await goOn(dead, stores, processes, 'ledger.schedule')
      dead.isKilled = true
    }
    const workspace = stores.ledger.workspaces.get(WORKSPACE)
    if (before === 'restored' && document && workspace) {
      workspace.takings.set(document.attemptId, { ...document, leaseExpiresAtMs: stores.nowMs + LEASE_MS })
      workspace.checkDueAtMs = stores.nowMs + LEASE_MS
    }
  }
  if (drift) drifts.plant(WORKSPACE, drift)
}
