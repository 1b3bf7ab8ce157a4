import { expect } from 'vitest'
import { openStores } from '../../lib/aws/stores.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { deleteDocument } from '../../lib/ledger/delete-document.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { resolveDueItems } from '../../lib/ledger/resolve-due-items.ts'
import type { Log, LogFields } from '../../lib/logging.ts'
import { createAdmission } from '../../lib/promotion/admission.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { storedObject } from './aws/memory-s3.ts'
import { CONFIG, createMemoryTables, DOCUMENTS_TABLE } from './dynamodb/memory-tables.ts'
import {
  newAttempt,
  newDocument,
  newRefund,
  pendingOf,
  signal,
  strayOf,
  type TestAttempt,
} from './stores/ledger-values.ts'
import { createMemoryObjects } from './stores/memory-objects.ts'

export { signal } from './stores/ledger-values.ts'

export const NOW_MS = Date.parse('2026-11-21T09:38:35.556Z')
export const LEASE_MS = 120_000
export const WORKSPACE = 'ws_1' as WorkspaceId
/** How long what was on its way to S3 may still arrive. */
export const LATE_COPY_MS = 15 * 60 * 1000

export type Step = 'begin' | 'copy' | 'hold' | 'record' | 'capture' | 'stray' | 'fence' | 'delete' | 'beginRefund'
/** All that a promotion does. */
export const ALL_STEPS: readonly Step[] = ['begin', 'copy', 'hold', 'record', 'capture']

interface Circumstances {
  defaultQuotaBytes?: number
  random?: () => number
  clock?: { nowMs: number }
}

/** The adapters on tables in memory, and a clock that a test sets: for the unit tests, and the whole API. */
export function createPorts({ random, clock = { nowMs: NOW_MS }, defaultQuotaBytes = 1000 }: Circumstances = {}) {
  const now = () => clock.nowMs
  let latestMs = 0
  // DynamoDB's own clock does not go back with that of a process.
  const stored = createMemoryTables({ now: () => (latestMs = Math.max(latestMs, clock.nowMs)) })
  const { client } = stored
  const config = { ...CONFIG, leaseMs: LEASE_MS, defaultQuotaBytes }
  const stores = openStores({ config, dynamoDb: client, s3: {} as never, now })
  const { ledger, documents } = stores
  const { objects, downloads } = createMemoryObjects()
  const logged: LogLine[] = []
  const log: Log = createRecordingLog(logged)
  const deps = {
    ...stores,
    objects,
    downloads,
    admission: createAdmission({ now, ...(random && { random }) }),
    maxFileBytes: 500,
    defaultQuotaBytes,
    log,
  }

  const begin = (change: Partial<TestAttempt> = {}) => newAttempt({ leaseEndsAtMs: clock.nowMs + LEASE_MS, ...change })

  const putObject = ({ objectKey, sizeBytes }: Pick<TestAttempt, 'objectKey' | 'sizeBytes'>) =>
    objects.documents.set(objectKey, storedObject({ bytes: Buffer.alloc(sizeBytes) }))

  const change = (table: string, id: string | undefined, by: Parameters<typeof stored.change>[1]) =>
    stored.change(table, by, ({ workspace_id, document_id }) => (document_id ?? workspace_id)?.S === id)

  const run = async (steps: readonly Step[], one = begin(), as: Partial<WorkspaceDocument> = {}) => {
    const document = newDocument(one, as)
    const dueAtMs = clock.nowMs + LEASE_MS
    const does: Record<Step, () => unknown> = {
      begin: () => documents.begin(pendingOf(one), undefined, signal),
      copy: () => putObject(one),
      hold: async () => {
        const taken = await ledger.hold(one, signal, 0)
        if (taken.outcome === 'held') document.countedFrom = taken.ledger.version
      },
      record: () => documents.record(document, signal),
      capture: () => ledger.capture(one, signal),
      stray: () => documents.putStray(strayOf(one, clock.nowMs + LATE_COPY_MS), signal),
      fence: () => documents.fence(one, signal),
      delete: () => documents.delete(one, { dueAtMs }, signal),
      beginRefund: () => ledger.beginRefund(newRefund(one, { leaseEndsAtMs: dueAtMs }), signal, 0),
    }
    for (const step of steps) await does[step]()
    return document
  }

  return {
    clock,
    deps,
    stored,
    ledger,
    documents,
    objects,
    logged,
    begin,
    putObject,
    run,
    /** A document as it is when nothing is under way. */
    addDocument: (one?: TestAttempt, as?: Partial<WorkspaceDocument>) => run(ALL_STEPS, one, as),
    /** As if it had been given another one: also to what is about to expire, or has. */
    setExpiry: ({ documentId }: Pick<WorkspaceDocument, 'documentId'>, expiresAtMs: number | undefined) =>
      change(DOCUMENTS_TABLE, documentId, (item) => {
        if (expiresAtMs === undefined) delete item.due_at
        else item.due_at = { N: String(expiresAtMs) }
      }),
    /** As if a person had taken this away from the item of a workspace or document. */
    spoil: (table: string, id: string | undefined, attribute: string) =>
      change(table, id, (item) => delete item[attribute]),
    /** Asks for the erasure of the workspace, which closes it. The erasure is due now. */
    closeWorkspace(workspaceId = WORKSPACE) {
      const { nowMs } = clock
      const asked = { state: 'scheduled', requestedAtMs: nowMs, beginsAtMs: nowMs, dueAtMs: nowMs } as const
      return stores.erasures.change(workspaceId, { shown: undefined, to: asked }, signal)
    },
    deleteDocument: (document: WorkspaceDocument) => deleteDocument(document, {}, deps, signal),
    /** Lets time pass until all leases of earlier attempts are over. */
    pass: (durationMs = LEASE_MS) => {
      clock.nowMs += durationMs
    },
    request: () => ({
      deadline: { signal, leftMs: () => 60_000, undoSignal: () => signal },
      log,
      telemetry: createTelemetry(),
    }),
    /** Runs the resolver once all leases are over, and again once all has arrived. */
    async resolveAll(): Promise<void> {
      for (let times = 0; times < 3; times++) {
        clock.nowMs += LATE_COPY_MS
        for (const kind of ['work', 'expiry'] as const) {
          const { failed, unlisted } = await resolveDueItems(kind, { timeoutEachMs: 60_000 }, deps, signal)
          expect([failed, unlisted]).toEqual([0, 0])
        }
      }
      const left = stored.items().filter(({ state }) => state !== 'ready' && state !== 'gone')
      expect(left).toEqual([])
    },
    state(workspaceId = WORKSPACE) {
      const { usedBytes = 0, holds = [], refunds = [] } = stored.ledgerOf(workspaceId) ?? {}
      const items = stored.items().filter((item) => item.workspaceId === workspaceId)
      return {
        used: usedBytes,
        entries: holds.length + refunds.length,
        unfinished: items.filter(({ state }) => state !== 'ready' && state !== 'gone').length,
        documents: items.filter(({ state }) => state === 'ready').length,
        objects: [...objects.documents.keys()].filter((key) => key.startsWith(`documents/${workspaceId}/`)).length,
      }
    },
  }
}

export type Ports = ReturnType<typeof createPorts>

/** A world with one document. */
export async function withDocument(as?: Partial<WorkspaceDocument>) {
  const ports = createPorts()
  return { ports, document: await ports.addDocument(undefined, as) }
}

export const NOTHING = { used: 0, entries: 0, unfinished: 0, documents: 0, objects: 0 }
/** The state with one document, of the size that newAttempt gives. */
export const ONE_DOCUMENT = { used: 100, entries: 0, unfinished: 0, documents: 1, objects: 1 }

export interface LogLine extends LogFields {
  level: string
  message: string
}

export function createRecordingLog(lines: LogLine[], fields: LogFields = {}): Log {
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
