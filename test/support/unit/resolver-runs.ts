import { vi } from 'vitest'
import { dueShard, dueShardOf } from '../../../lib/aws/dynamodb/document-codec.ts'
import { type DocumentId, documentIdOfAttempt, newAttemptId, type WorkspaceId } from '../../../lib/ids.ts'
import type { DueEntry, DueKind, WorkspaceDocument } from '../../../lib/ledger/ports/documents.ts'
import { type ResolverReport, type ResolverRun, resolveDueItems } from '../../../lib/ledger/resolve-due-items.ts'
import { createPorts, type Ports } from '../ports.ts'

/** The report of a run that had nothing to do. */
export const IDLE: ResolverReport = { resolved: 0, freed: 0, failed: 0, unlisted: 0, oldestMs: 0 }
/** The report of a run that freed the bytes of so many documents. */
export const done = (resolved: number): ResolverReport => ({ ...IDLE, resolved, freed: resolved })
export const nth = (n: number) => `ws_${n}` as WorkspaceId
export const times = (count: number, n: number) => Array.from({ length: count }, () => n)
export const idsOf = (documents: WorkspaceDocument[]) => documents.map(({ documentId }) => documentId)
export const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((done) => setImmediate(done))
}

export function resolve(kind: DueKind, { deps }: Ports, change: Partial<ResolverRun> & { signal?: AbortSignal } = {}) {
  const { signal = new AbortController().signal, ...run } = change
  return resolveDueItems(kind, { timeoutEachMs: 60_000, ...run }, deps, signal)
}

/** A new document's id, in a shard of the index of due work. @param shard omitted: any */
export function newDocumentId(shard?: number): DocumentId {
  for (;;) {
    const documentId = documentIdOfAttempt(newAttemptId())
    if (shard === undefined || dueShardOf('expiry', documentId) === dueShard('expiry', shard)) return documentId
  }
}

/** Documents of 100 bytes in these workspaces, which expire one ms after the other, the last one now. */
export async function addExpired(ports: Ports, workspaces: number[], shard?: number): Promise<WorkspaceDocument[]> {
  const added: WorkspaceDocument[] = []
  for (const [index, n] of workspaces.entries()) {
    const expiresAt = new Date(ports.clock.nowMs + index + 1 - workspaces.length)
    const one = ports.begin({ workspaceId: nth(n), documentId: newDocumentId(shard) })
    added.push(await ports.addDocument(one, { expiresAt }))
  }
  return added
}

/** A world with room for these. */
export async function withExpired(workspaces: number[], shard?: number) {
  const ports = createPorts({ defaultQuotaBytes: 100_000 })
  return { ports, added: await addExpired(ports, workspaces, shard) }
}

/** Has each reading of an item do this first. */
export function whenRead({ deps: { dueWork } }: Ports, act: (entry: DueEntry) => unknown) {
  const find = dueWork.findDue
  return vi.spyOn(dueWork, 'findDue').mockImplementation(async (entry, signal) => {
    await act(entry)
    return find(entry, signal)
  })
}

/** Has each deletion do this first. */
export function whenDeleted({ documents }: Ports, act: (document: WorkspaceDocument, signal: AbortSignal) => unknown) {
  const remove = documents.delete
  return vi.spyOn(documents, 'delete').mockImplementation(async (document, when, signal) => {
    await act(document as WorkspaceDocument, signal)
    return remove(document, when, signal)
  })
}
