import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reasonOf } from '../../support/api/promotion-answers.ts'
import { HANGS, REFUSED } from '../../support/protocol/aws-failures.ts'
import { expectWhole, heal } from '../../support/protocol/heal.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

const BYTES = Buffer.from('a file')
/** Twice as many as a ledger has places for. */
const DELETIONS = 14
const KILLED = 6
/** After it, leftovers of dead processes take up no place in the ledger (lib/aws/dynamodb/ledger.ts). */
const LEFTOVER_MS = 15_000
const HOURS_MS = 2 * 3_600_000
// What deletions wait for, but for S3, is measured: pauses.
skipWaits()
/** Hung calls end by the product's own time limits. The other one is to be killed. */
let one: TestProcess
let other: TestProcess
beforeAll(async () => {
  const stores = await createTestStores()
  const config = { ...stores.config, rateLimit: { requestsPerMinute: 60_000, burst: 10_000 } }
  const start = () => startTestProcess({ ...stores, config }, { hasOwnTimeouts: true })
  ;[one, other] = await Promise.all([start(), start()])
})
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()])
})

beforeEach(() => {
  one.restart()
  one.setClock(0)
})

const isOfS3 = (name: string) => /^[A-Z]/.test(name)
const withDocuments = async (count: number): Promise<{ workspace: TestWorkspace; ids: string[] }> => {
  const workspace = await one.newWorkspace(10 ** 9)
  await one.putFile(workspace, 'a.txt', BYTES)
  const ids: string[] = []
  for (let made = 0; made < count; made++) {
    const { body } = await one.promote(workspace, 'a.txt')
    ids.push((body as { id: string }).id)
  }
  return { workspace, ids }
}
const remove = (process: TestProcess, workspace: TestWorkspace, documentId: string) =>
  process.call('delete_document', workspace, { parameters: { document_id: documentId } })

describe(`${DELETIONS} deletions of a workspace while S3 is away`, () => {
  it.each([
    ['does not answer', HANGS],
    ['takes no connections', REFUSED],
  ])('%s: none waits for another, all give their bytes back, and what they leave hinders nobody', async (_, fault) => {
    const { workspace, ids } = await withDocuments(DELETIONS + KILLED + 1)
    const [last = '', ...others] = ids
    const [killed, deleted] = [others.slice(0, KILLED), others.slice(KILLED)]
    one.takeCalls()
    let reached = 0
    other.breakCalls((call) => {
      if (!isOfS3(call.name)) return undefined
      return ++reached < KILLED ? HANGS : { kind: 'kill_before' }
    })
    one.breakCalls(({ name }) => (isOfS3(name) ? fault : undefined))

    for (const id of killed) void remove(other, workspace, id).catch(() => {})
    await other.died()
    other.restart()
    one.setClock(LEFTOVER_MS)
    const beganMs = performance.now()
    const answers = await Promise.all(
      deleted.map(async (id) => {
        const answer = await remove(one, workspace, id)
        return { reason: reasonOf(answer), isSoon: performance.now() - beganMs < 12_000 }
      }),
    )
    const calls = one.takeCalls()
    const left = await one.stateOf(workspace)
    // Each was stopped by S3 itself, and not by the others.
    expect(answers).toEqual(deleted.map(() => ({ reason: 'service_unavailable', isSoon: true })))
    expect(new Set(calls.filter(({ name }) => isOfS3(name)).map(({ path }) => path)).size).toBe(DELETIONS)
    expect(left).toMatchObject({ documents: 1, objects: ids.length })
    // Each of the killed processes may have given its bytes back or not.
    expect(left.usedBytes).toBeLessThanOrEqual((KILLED + 1) * BYTES.length)
    expect(left.unfinished).toBeLessThanOrEqual(DELETIONS + 2 * KILLED)

    one.restart()
    const returnedMs = performance.now()
    expect((await remove(one, workspace, last)).status).toBe(200)
    expect(performance.now() - returnedMs).toBeLessThan(5000)
    await heal(one, workspace)
    await expectWhole(one, workspace)
    expect(await one.stateOf(workspace)).toMatchObject({ documents: 0 })
    one.setClock(0)
  })
})

describe('a promotion that is refused for the quota while S3 is away', () => {
  it('asks S3 for its file only, although a dead promotion holds the bytes', async () => {
    const workspace = await one.newWorkspace(BYTES.length)
    await one.putFile(workspace, 'a.txt', BYTES)
    other.breakCalls(({ name }) => (name === 'documents.record' ? { kind: 'kill_before' } : undefined))
    void other.promote(workspace, 'a.txt').catch(() => {})
    await other.died()
    other.restart()
    one.setClock(HOURS_MS)
    one.takeCalls()
    one.breakCalls(({ name }) => (isOfS3(name) && name !== 'HeadObject' ? HANGS : undefined))
    const answer = await one.promote(workspace, 'a.txt')
    expect([answer.status, reasonOf(answer)]).toEqual([403, 'storage_quota_exceeded'])
    expect(one.takeCallNames().filter(isOfS3)).toEqual(['HeadObject'])
    one.restart()
    expect(await one.resolveWorkspace(workspace.workspaceId)).toMatchObject({ resolved: 1, failed: 0 })
    expect((await one.promote(workspace, 'a.txt')).status).toBe(200)
  })
})
