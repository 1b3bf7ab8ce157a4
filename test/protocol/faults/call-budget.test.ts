import { setTimeout as sleep } from 'node:timers/promises'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type { HttpRequest } from '@smithy/types'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CALL_HEADER } from '../../support/aws/name-calls.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { startTestProcess, type TestProcess } from '../../support/protocol/test-process.ts'
import { createTestStores } from '../../support/protocol/test-stores.ts'
import type { TestWorkspace } from '../../support/protocol/workspaces.ts'

interface Sent {
  name: string
  /** Calls on the longest way that ends with this one: it was sent when all before it had been answered. */
  depth: number
}

/** Long enough that a key is at rest again, and that a call nobody waits for is seen. */
const REST_MS = 200

let service: TestProcess
let workspace: TestWorkspace
let spent: Consumption[] = []

beforeAll(async () => {
  service = await startTestProcess(
    await createTestStores({ now: Date.now, staleMs: 0, onCall: (call) => spent.push(call) }),
  )
  workspace = await service.newWorkspace()
  await service.putFile(workspace, 'a.txt', Buffer.from('small'))
  await service.promote(workspace, 'a.txt')
})
// A busy key may take the rate limiter a second call.
beforeEach(() => sleep(REST_MS))
afterAll(() => service.stop())

/** All that is sent, by whatever client and with its repetitions. Calls made side by side are sent before any is answered. */
async function watchCalls(work: () => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = []
  let answeredDepth = 0
  const { handle } = NodeHttpHandler.prototype
  const handling = vi.spyOn(NodeHttpHandler.prototype, 'handle')
  handling.mockImplementation(async function (this: unknown, ...args: unknown[]) {
    const call = { name: String((args[0] as HttpRequest).headers[CALL_HEADER]), depth: answeredDepth + 1 }
    sent.push(call)
    const answer = await Reflect.apply(handle, this, args)
    if (call.name === 'ledger.unmark') await sleep(REST_MS)
    answeredDepth = Math.max(answeredDepth, call.depth)
    return answer
  })
  const fetching = vi.spyOn(globalThis, 'fetch')
  await work()
  await sleep(REST_MS)
  expect(fetching).not.toHaveBeenCalled()
  handling.mockRestore()
  fetching.mockRestore()
  return sent
}

/** The names of those that are sent side by side, in the order of their sending. */
function byDepth(calls: Sent[]): string[][] {
  const depths = Array.from({ length: Math.max(...calls.map(({ depth }) => depth)) }, (_, index) => index + 1)
  return depths.map((depth) => calls.flatMap((call) => (call.depth === depth ? call.name : [])).sort())
}

describe('what a plain promotion asks of AWS', () => {
  it.each([
    ['', {}],
    [', with Prefer: wait, too', { prefer: 'wait=20' }],
  ])('is nine calls, not one more, of which six wait for each other%s', async (_, headers) => {
    const calls = await watchCalls(() => service.promote(workspace, 'a.txt', { headers }))
    expect(byDepth(calls)).toEqual([
      ['keys.find'],
      ['HeadObject', 'rateLimit.take'],
      ['ledger.take'],
      ['CopyObject', 'reservations.reserve'],
      // The unmarking is held back: nothing but the end waits for it.
      ['documents.record', 'ledger.unmark'],
      ['reservations.remove'],
    ])
    expect(calls).toHaveLength(9)
  })

  it('is eleven calls with an Idempotency-Key, of which eight wait for each other', async () => {
    const calls = await watchCalls(() => service.promote(workspace, 'a.txt', { idempotencyKey: 'a-key' }))
    expect(byDepth(calls)).toEqual([
      ['keys.find'],
      ['HeadObject', 'rateLimit.take'],
      ['reservations.claim'],
      ['documents.find'],
      ['ledger.take'],
      ['CopyObject', 'reservations.reserve'],
      ['documents.record', 'ledger.unmark'],
      ['reservations.remove'],
    ])
    expect(calls).toHaveLength(11)
  })

  it('is four more where it waits: the wait begins and ends, and both looks ask for container and file', async () => {
    const promote = (headers: Record<string, string>) => () => service.promote(workspace, 'missing.txt', { headers })
    const [found, waited] = [await watchCalls(promote({})), await watchCalls(promote({ prefer: 'wait=1' }))]
    const more = ['rateLimit.beginWait', 'HeadObject', 'HeadObject', 'rateLimit.endWait']
    const names = (calls: Sent[]) => calls.map(({ name }) => name)
    expect(names(waited).toSorted()).toEqual([...names(found), ...more].toSorted())
  })

  it.each([
    ['seven units, one of them for the index of lists', {}, 2],
    ['eight with an expiry, the eighth for its index; no call more', { 'file-expires-in': '3600' }, 3],
  ])('writes %s, and reads one', async (_, headers, ofDocuments) => {
    spent = []
    expect(await watchCalls(() => service.promote(workspace, 'a.txt', { headers }))).toHaveLength(9)
    const byTable: Record<string, { reads: number; writes: number }> = {}
    for (const { table, operation, units } of spent) {
      const name = table.replace(/^.*-local-/, '')
      byTable[name] ??= { reads: 0, writes: 0 }
      byTable[name][operation === 'GetItem' ? 'reads' : 'writes'] += units
    }
    expect(byTable).toEqual({
      keys: { reads: 1, writes: 0 },
      'rate-limits': { reads: 0, writes: 1 },
      // Take, unmark.
      workspaces: { reads: 0, writes: 2 },
      // Open, settle.
      reservations: { reads: 0, writes: 2 },
      // The record, and its entry in documents-by-creation.
      documents: { reads: 0, writes: ofDocuments },
    })
  })
})
