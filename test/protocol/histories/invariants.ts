import type { WorkspaceId } from '../../../lib/ids.ts'
import type { MarkedRelease } from '../../../lib/ledger/ports/reservations.ts'
import type { Drifts } from './drifts.ts'
import type { Process } from './process.ts'
import type { Stores } from './stores.ts'

/** What is true at every moment, whatever has happened. @param mayExceed whether the workspace may be over its quota */
export function checkBytes(stores: Stores, drifts: Drifts, mayExceed: (workspaceId: WorkspaceId) => boolean): void {
  for (const [workspaceId, { quotaBytes, remainingBytes }] of stores.ledger.workspaces) {
    const bytes = heldBytes(workspaceId, stores) + drifts.of(workspaceId)
    expectEqual(quotaBytes - remainingBytes, bytes, `${workspaceId} counts what is held to the byte`)
    if (remainingBytes < 0 && !mayExceed(workspaceId)) throw new Error(`${workspaceId} is over its quota`)
  }
  for (const document of stores.documents.documents.values()) {
    const object = stores.objects.documents.get(document.objectKey)
    expectEqual(object?.bytes.length, document.sizeBytes, `document ${document.documentId} has its bytes`)
  }
}

/** What is true when everything has come to rest. */
export function checkRest(stores: Stores): void {
  for (const [workspaceId, workspace] of stores.ledger.workspaces) {
    const { quotaBytes, remainingBytes, takings, releases, checkDueAtMs } = workspace
    const bytes = stores.documentsOf(workspaceId).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    expectEqual(quotaBytes - remainingBytes, bytes, `${workspaceId} counts its documents to the byte`)
    expectEqual([...takings, ...releases], [], `${workspaceId} has no marker left`)
    expectEqual(checkDueAtMs, undefined, `${workspaceId} is looked at no more`)
  }
  // What holds no bytes, of a process that died before it took any, stays until somebody looks at the workspace.
  const left = [...stores.reservations.items.values()].filter(({ purpose }) => purpose === 'promotion')
  expectEqual(left, [], 'no reservation is left')
  const unfinished = [...stores.documents.tombstones.values()].filter(({ expiresAtMs }) => expiresAtMs === undefined)
  expectEqual(unfinished, [], 'no deletion is left unfinished')
  const keys = new Set([...stores.documents.documents.values()].map(({ objectKey }) => objectKey))
  const loose = [...stores.objects.documents.keys()].filter((key) => !keys.has(key))
  expectEqual(loose, [], 'no object is left without a document')
}

/** A marker stands in the ledger for milliseconds: never while S3 is called. */
export function checkCalls({ name, waiting, calls }: Process, { ledger }: Stores): void {
  for (const call of waiting) {
    if (call.name !== 'objects.discard') continue
    const own = calls.flatMap(({ name, result }) => (name === 'ledger.mark' ? [result as Partial<MarkedRelease>] : []))
    for (const { releases } of ledger.workspaces.values()) {
      for (const { releaseId, attemptId } of releases.values()) {
        const isItsOwn = String(call.args[0]).endsWith(attemptId) && own.some((each) => each?.releaseId === releaseId)
        if (isItsOwn) throw new Error(`${name} calls S3 while its release stands in the ledger`)
      }
    }
  }
}

function heldBytes(workspaceId: WorkspaceId, stores: Stores): number {
  return [...holders(workspaceId, stores).values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0)
}

/** All attempts that hold bytes, each once: docs/reliability.md, "The protocol". */
export function holders(workspaceId: WorkspaceId, stores: Stores): Map<string, number> {
  const { takings, releases } = stores.ledger.workspaces.get(workspaceId) ?? {
    takings: new Map(),
    releases: new Map(),
  }
  const held = new Map<string, number>()
  for (const { attemptId, sizeBytes } of stores.documentsOf(workspaceId)) held.set(attemptId, sizeBytes)
  for (const { attemptId, sizeBytes } of takings.values()) {
    // The marker of a deleted document came from a backup: the resolver takes it away.
    if (!stores.timeline.wasDeleted(attemptId)) held.set(attemptId, sizeBytes)
  }
  for (const { workspaceId: owner, attemptId, sizeBytes, purpose, releasedBy } of stores.reservations.items.values()) {
    const isReleased = releasedBy !== undefined && !releases.has(releasedBy)
    if (owner === workspaceId && purpose === 'promotion' && !isReleased) held.set(attemptId, sizeBytes)
  }
  for (const { document, releasedBy, expiresAtMs } of stores.documents.tombstones.values()) {
    const isReleased = releasedBy !== undefined && !releases.has(releasedBy)
    const holds = document?.workspaceId === workspaceId && expiresAtMs === undefined && !isReleased
    if (holds) held.set(document.attemptId, document.sizeBytes)
  }
  return held
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (Object.is(actual, expected)) return
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== shouldBe) throw new Error(`${what}: ${is} instead of ${shouldBe}`)
}
