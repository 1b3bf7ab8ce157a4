import { expect } from 'vitest'
import type { AuditDependencies } from '../../lib/audit/audit-context.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import type { DocumentExpiries } from '../../lib/ledger/ports/document-expiries.ts'
import type { Attempt, Note } from '../../lib/ledger/ports/reservations.ts'
import { resolveWorkspace } from '../../lib/ledger/resolve-workspace.ts'
import type { Log, LogFields } from '../../lib/logging.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import { type Admission, createAdmission } from '../../lib/promotion/admission.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { createFakeDocumentExpiries } from './fakes/document-expiries.ts'
import { createFakeDocumentRecords } from './fakes/document-records.ts'
import { createFakeObjectStore } from './fakes/object-store.ts'
import { createFakeQuotaLedger } from './fakes/quota-ledger.ts'
import { createFakeReservations } from './fakes/reservations.ts'
import { newAttempt, newDocument } from './stores/ledger-values.ts'

export const NOW_MS = Date.parse('2026-11-21T09:38:35.556Z')
export const LEASE_MS = 120_000
export const WORKSPACE = 'ws_1' as WorkspaceId
/** How long the note of a copy that S3 may still finish stays. */
export const LATE_COPY_MS = 15 * 60 * 1000
const { signal } = new AbortController()

/** What one call of an attempt does; `settle` is the end of one whose marker is gone. The last are notes. */
export type Step = 'claim' | 'take' | 'reserve' | 'unmark' | 'copy' | 'record' | 'settle' | 'fence' | Note
/** All that a promotion does before it is settled. */
export const ALL_STEPS: readonly Step[] = ['take', 'reserve', 'unmark', 'copy', 'record']

interface Circumstances {
  defaultQuotaBytes?: number
  maxTakings?: number
  random?: () => number
  clock?: { nowMs: number }
}

/** The ports on in-memory stores, and a clock that a test sets: for the unit tests, the whole API and the explorer. */
export function createPorts({ random, clock = { nowMs: NOW_MS }, ...limits }: Circumstances = {}) {
  const now = () => clock.nowMs
  const ledger = createFakeQuotaLedger({ defaultQuotaBytes: 1000, ...limits })
  const reservations = createFakeReservations()
  const documents = createFakeDocumentRecords(now)
  const objects = createFakeObjectStore()
  const logged: LogLine[] = []
  const log: Log = createRecordingLog(logged)
  const deps = {
    quota: ledger,
    workspaces: ledger,
    reservations,
    documents,
    expiries: createFakeDocumentExpiries(documents, now),
    objects,
    objectKeys: createObjectKeys({
      sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
      document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
    }),
    admission: createAdmission({ now, ...(random && { random }) }),
    leaseMs: LEASE_MS,
    now,
    log,
  } satisfies AuditDependencies & { admission: Admission; expiries: DocumentExpiries }

  /** A reservation of an attempt that begins now. */
  const begin = (change: Partial<Attempt> = {}) => newAttempt({ leaseExpiresAtMs: clock.nowMs + LEASE_MS, ...change })

  const putObject = ({ objectKey, sizeBytes }: Pick<Attempt, 'objectKey' | 'sizeBytes'>) =>
    objects.documents.set(objectKey, { bytes: Buffer.alloc(sizeBytes), contentType: undefined })

  /** Does the given steps of an attempt, and no more. */
  const run = async (steps: readonly Step[], one: Attempt = begin()): Promise<Attempt> => {
    const does: Record<Step, () => unknown> = {
      take: async () => {
        const taken = await ledger.take(one, signal)
        if (taken.outcome === 'taken') one.countedFrom = taken.countedFrom
      },
      claim: () => reservations.claim(one, signal),
      reserve: async () =>
        reservations.reserve(one, (await reservations.find(one, signal))?.purpose === 'claim', signal),
      unmark: () => ledger.unmark(one, signal),
      copy: () => putObject(one),
      record: () => documents.record(newDocument(one), signal),
      settle: () => reservations.remove(one, signal),
      fence: () => reservations.fence({ ...one, leaseExpiresAtMs: one.leaseExpiresAtMs + LATE_COPY_MS }, false, signal),
      late_copy: () => reservations.note('late_copy', one, signal),
      deletion: () => reservations.note('deletion', one, signal),
    }
    for (const step of steps) await does[step]()
    return one
  }

  const reservationsIn = (workspaceId: WorkspaceId) =>
    [...reservations.items.values()].filter((each) => each.workspaceId === workspaceId)
  const lateCopiesIn = (workspaceId: WorkspaceId) =>
    reservationsIn(workspaceId).filter(({ purpose }) => purpose === 'late_copy')

  return {
    clock,
    deps,
    ledger,
    reservations,
    documents,
    objects,
    logged,
    begin,
    putObject,
    run,
    /** A document as it is when nothing is under way. */
    addDocument: async (one: Attempt = begin()) => newDocument(await run([...ALL_STEPS, 'settle'], one)),
    /** Lets time pass until all leases of earlier attempts are over. */
    pass: (durationMs = LEASE_MS) => {
      clock.nowMs += durationMs
    },
    request: () => ({
      deadline: { signal, leftMs: () => 60_000, undoSignal: () => signal },
      log,
      telemetry: createTelemetry(),
    }),
    /** Runs the resolver once all leases are over, and again once the leases of its own work are. */
    async resolveAll(workspaceId = WORKSPACE): Promise<void> {
      for (let run = 0; run < 3; run++) {
        clock.nowMs += LATE_COPY_MS
        const bounds = { maxResolutions: 100, leaseUntilMs: clock.nowMs + 60_000 }
        const { failed, isComplete } = await resolveWorkspace(workspaceId, bounds, deps, signal)
        expect([failed, isComplete]).toEqual([0, true])
      }
      expect(lateCopiesIn(workspaceId)).toEqual([])
      expect(ledger.workspaces.get(workspaceId)?.checkDueAtMs).toBeUndefined()
    },
    /** What is stored, in numbers; without the notes of late copies. */
    state(workspaceId = WORKSPACE) {
      const workspace = ledger.workspaces.get(workspaceId)
      const isOwn = (key: string) => key.startsWith(`${workspaceId}/`)
      return {
        used: workspace ? workspace.quotaBytes - workspace.remainingBytes : 0,
        markers: workspace ? workspace.takings.size + workspace.releases.size : 0,
        reservations: reservationsIn(workspaceId).length - lateCopiesIn(workspaceId).length,
        documents: [...documents.documents.keys()].filter(isOwn).length,
        objects: [...objects.documents.keys()].filter((key) => key.startsWith(`documents/${workspaceId}/`)).length,
      }
    },
  }
}

export type Ports = ReturnType<typeof createPorts>

export const NOTHING = { used: 0, markers: 0, reservations: 0, documents: 0, objects: 0 }
/** The state with one document, of the size that newAttempt gives. */
export const ONE_DOCUMENT = { used: 100, markers: 0, reservations: 0, documents: 1, objects: 1 }

interface LogLine extends LogFields {
  level: string
  message: string
}

function createRecordingLog(lines: LogLine[], fields: LogFields = {}): Log {
  const write =
    (level: string) =>
    (message: string, more: LogFields = {}) => {
      lines.push({ ...fields, ...more, level, message })
    }
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: (more) => createRecordingLog(lines, { ...fields, ...more }),
  }
}
