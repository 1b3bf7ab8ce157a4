import { deleteWorkspace } from '../../../lib/administration/delete-workspace.ts'
import { eraseWorkspace } from '../../../lib/administration/erase-workspace.ts'
import { audit } from '../../../lib/audit/audit.ts'
import { addItem, beginSum } from '../../../lib/audit/audit-usage.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { cleanLedger } from '../../../lib/ledger/clean-ledger.ts'
import { deleteDocument } from '../../../lib/ledger/delete-document.ts'
import type { DeletedDocument, DueEntry, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import type { Counts } from '../../../lib/ledger/ports/ledger.ts'
import { resolveDueItem } from '../../../lib/ledger/resolve-due-item.ts'
import { promoteContainerFile } from '../../../lib/promotion/promote-container-file.ts'
import { createTelemetry } from '../../../lib/telemetry.ts'
import { type Stores, WORKSPACE } from './stores.ts'

export type Request =
  | { do: 'promote'; file: number; key?: number; expiresInSeconds?: number }
  /** @param of as it was found when the process began; left out: the newest document */
  | { do: 'delete'; of?: WorkspaceDocument | DeletedDocument }
  | { do: 'change_expiry'; of?: WorkspaceDocument; seconds?: number }
  /** @param entries what was due in the index when it was listed @param aheadMs by how much the process's clock is wrong */
  | { do: 'resolve'; entries?: DueEntry[]; aheadMs?: number }
  | { do: 'clean' }
  | { do: 'audit' }
  /** As `audit --repair`. */
  | { do: 'repair' }
  /** As `DELETE /workspaces/{workspace_id}` does; its keys are no part of this world. */
  | { do: 'delete_workspace' }
  /** As the function does; it asks for the erasure, too, if nobody has. */
  | { do: 'erase' }

export interface Audited {
  /** By the ledger, when it was read; the audit makes the other of it. */
  counted: Counts
  expected: Counts
}

type Dependencies = ReturnType<Stores['dependencies']>
const { signal } = new AbortController()
/** They are no part of this world. */
const NO_KEYS = { removeAll: async () => {} }

export async function handle(request: Request, deps: Dependencies): Promise<unknown> {
  switch (request.do) {
    case 'promote':
      return promote(request, deps)
    case 'delete':
      return request.of && deleteDocument(request.of, {}, deps, signal)
    case 'change_expiry': {
      const { of, seconds } = request
      const expiresAt = seconds === undefined ? undefined : new Date(deps.now() + seconds * 1000)
      return of && deps.documents.setExpiry(of, expiresAt, signal)
    }
    case 'resolve':
      for (const entry of request.entries ?? []) {
        const item = await deps.dueWork.findDue(entry, signal)
        if (item) await resolveDueItem(item, deps.now(), deps, signal)
      }
      return undefined
    case 'clean': {
      const ledger = await deps.ledger.read(WORKSPACE, signal)
      if (ledger) await cleanLedger(ledger, deps, signal)
      return undefined
    }
    case 'audit':
      return add(deps)
    case 'repair': {
      const options = { repair: true, deleteLostDocuments: true, workspaceId: WORKSPACE, onFinding() {} }
      return audit(options, deps, signal)
    }
    case 'delete_workspace':
      return deleteWorkspace(WORKSPACE, { ...deps, apiKeys: NO_KEYS as never }, signal)
    case 'erase': {
      const ledger = await deps.ledger.read(WORKSPACE, signal)
      if (ledger && ledger.erasure === undefined) {
        const nowMs = deps.now()
        const to = { state: 'scheduled', requestedAtMs: nowMs, beginsAtMs: nowMs, dueAtMs: nowMs } as const
        await deps.erasures.change(WORKSPACE, { shown: undefined, to }, signal)
      }
      return eraseWorkspace(WORKSPACE, { ...deps, apiKeys: NO_KEYS }, signal)
    }
  }
}

function promote(
  { file, key, expiresInSeconds }: Extract<Request, { do: 'promote' }>,
  deps: Dependencies,
): Promise<unknown> {
  const request = {
    caller: { keyId: 'key', workspaceId: WORKSPACE, kind: 'management', permissions: [], userId: undefined } as const,
    containerId: 'sess_1',
    fileId: formatFileId(`file-${file}`),
    idempotencyKey: key === undefined ? undefined : `key-${key}`,
    expiresInSeconds,
    rateLimitPassed: Promise.resolve(),
    countMore: async (most: number) => most,
    pauseMs: () => 0,
    deadline: { signal, leftMs: () => 60_000, undoSignal: () => signal },
    log: deps.log,
    telemetry: createTelemetry(),
  }
  return promoteContainerFile(request, deps)
}

/** As much of an audit as adds up: the ledger is read once, and each item once, at any later time. */
async function add(deps: Dependencies): Promise<Audited | undefined> {
  const cut = await deps.ledger.read(WORKSPACE, signal)
  if (cut === undefined) return undefined
  let sum = beginSum(cut, deps.now())
  for await (const item of deps.documents.list(WORKSPACE, signal)) sum = addItem(sum, item)
  // No audit adds up a workspace whose erasure was asked for.
  if ((await deps.ledger.read(WORKSPACE, signal))?.erasure) return undefined
  const { usedBytes, documents } = cut
  return { counted: { usedBytes, documents }, expected: sum.atCut }
}

export const sizeOf = (file: number) => 10 * (file + 1)
export const etagOf = (file: number) => `"${String(file).repeat(32)}"`
