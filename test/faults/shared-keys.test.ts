import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestProcess, type TestProcess } from '../support/faults/test-process.ts'
import { createTestStores } from '../support/faults/test-stores.ts'
import type { TestWorkspace } from '../support/faults/workspaces.ts'
import { reasonOf } from '../support/http/promotion-answers.ts'

const BYTES = Buffer.from('a file')
const KEYS = 80
const HOUR_MS = 3_600_000

let process: TestProcess
beforeAll(async () => {
  const stores = await createTestStores()
  // All clients of a key share the rate limit, which is not what this is about.
  const config = { ...stores.config, rateLimit: { requestsPerMinute: 60_000, burst: 10_000 } }
  process = await startTestProcess({ ...stores, config })
})
afterAll(() => process.stop())

const withFile = async (quotaBytes: number): Promise<TestWorkspace> => {
  const workspace = await process.newWorkspace(quotaBytes)
  await process.putFile(workspace, 'a.txt', BYTES)
  return workspace
}

/** As a client does that was told to come back. @returns the first answer that is final */
async function promoteAtLast(workspace: TestWorkspace, idempotencyKey: string): Promise<number> {
  for (;;) {
    const { status } = await process.promote(workspace, 'a.txt', { idempotencyKey })
    if (status !== 429 && status !== 503) return status
    await sleep(100 * (1 + Math.random()))
  }
}

describe('Idempotency-Keys that clients share, near a full quota', () => {
  it.each([2, 3])('make as many documents as there is room for, with %d clients a key', async (clients) => {
    const workspace = await withFile(KEYS * BYTES.length)
    const keys = Array.from({ length: clients * KEYS }, (_, request) => `key-${request % KEYS}`)
    const statuses = await Promise.all(keys.map((key) => promoteAtLast(workspace, key)))
    // No key has a 200 and a 403, and none is refused: there is room for all of them.
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await process.stateOf(workspace)).toMatchObject({
      documents: KEYS,
      objects: KEYS,
      usedBytes: KEYS * BYTES.length,
      reservations: 0,
    })
  })
})

describe('an Idempotency-Key whose document was deleted', () => {
  it('is refused for a day, in its own workspace only, and then makes a new document', async () => {
    const [mine, yours] = [await withFile(1000), await withFile(1000)]
    const promote = (workspace: TestWorkspace) => process.promote(workspace, 'a.txt', { idempotencyKey: 'shared' })
    const { id } = (await promote(mine)).body as { id: string }
    expect((await process.call('delete_document', mine, { parameters: { document_id: id } })).status).toBe(200)
    for (const hours of [0, 23]) {
      process.setClock(hours * HOUR_MS)
      const answer = await promote(mine)
      expect([answer.status, reasonOf(answer)]).toEqual([400, 'idempotency_key_spent'])
      expect((await promote(yours)).status).toBe(200)
    }
    process.setClock(25 * HOUR_MS)
    const answer = await promote(mine)
    expect([answer.status, answer.body, answer.headers['idempotency-replayed']]).toMatchObject([200, { id }, undefined])
    expect(await process.audit(mine.workspaceId, false)).toEqual([])
    process.setClock(0)
  })
})
