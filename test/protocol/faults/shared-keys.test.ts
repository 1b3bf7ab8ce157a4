import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

const BYTES = Buffer.from('a file')

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
  it.each([
    ['2 clients a key', { requests: 80, keys: 40, room: 40 }],
    ['3 clients a key', { requests: 120, keys: 40, room: 40 }],
    ['keys of their own, and too many of them', { requests: 60, keys: 60, room: 40 }],
  ])('make as many documents as there is room for, with %s', async (_, { requests, keys, room }) => {
    const workspace = await withFile(room * BYTES.length)
    const named = Array.from({ length: requests }, (_each, request) => `key-${request % keys}`)
    const statuses = await Promise.all(named.map((key) => promoteAtLast(workspace, key)))
    // No key has a 200 and a 403, and none is refused that there is room for.
    const refused = keys - room
    const expected = [...Array(requests - refused).fill(200), ...Array(refused).fill(403)]
    expect(statuses.toSorted()).toEqual(expected)
    const stored = { documents: room, objects: room, usedBytes: room * BYTES.length, unfinished: 0 }
    expect(await process.stateOf(workspace)).toMatchObject(stored)
  })
})
