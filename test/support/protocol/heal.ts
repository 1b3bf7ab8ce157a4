import { expect } from 'vitest'
import { LONGEST_COPY_MS } from '../../../lib/ledger/undo.ts'
import type { TestProcess } from './test-process.ts'
import type { TestWorkspace } from './workspaces.ts'

/** Longer than any lease. */
const LEASES_MS = 300_000

/** Lets all that was sent arrive, and the resolver run: once when leases are over, and again when no stray is kept. */
export async function heal(process: TestProcess, { workspaceId }: TestWorkspace, fromMs = 0): Promise<void> {
  await process.deliverLate()
  for (const laterMs of [LEASES_MS, 2 * LEASES_MS + LONGEST_COPY_MS]) {
    process.setClock(fromMs + laterMs)
    const done = { failed: 0, unlisted: 0, oldestMs: 0 }
    expect(await process.expire(workspaceId)).toMatchObject(done)
    expect(await process.resolveWorkspace(workspaceId)).toMatchObject(done)
  }
}

/** All that is there is documents, each with its object, and the ledger counts them to the byte. */
export async function expectWhole(process: TestProcess, workspace: TestWorkspace): Promise<void> {
  const { workspaceId } = workspace
  // A repair ends what is done, which are no finding.
  for (const repair of [false, true]) expect(await process.audit(workspaceId, repair)).toEqual([])
  const items = await Array.fromAsync(process.deps.documents.list(workspaceId, AbortSignal.timeout(60_000)))
  const sizes = items.flatMap((item) => (item.state === 'ready' ? item.sizeBytes : []))
  expect(await process.stateOf(workspace)).toEqual({
    documents: sizes.length,
    objects: sizes.length,
    unfinishedUploads: 0,
    usedBytes: sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0),
    unfinished: 0,
    strays: 0,
  })
}
