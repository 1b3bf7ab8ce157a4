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

const isOfS3 = (name: string) => /^[A-Z]/.test(name)

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

/** @returns the calls, and by table the units that they cost */
async function watchUnits(work: () => Promise<unknown>) {
  spent = []
  const calls = await watchCalls(work)
  const units: Record<string, { reads: number; writes: number }> = {}
  for (const { table, operation, units: more } of spent) {
    const name = table.replace(/^.*-local-/, '')
    units[name] ??= { reads: 0, writes: 0 }
    units[name][operation === 'GetItem' ? 'reads' : 'writes'] += more
  }
  return { calls, units }
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
    [', with an Idempotency-Key, too', { 'idempotency-key': 'a-key' }],
  ])('is nine calls, not one more, of which seven wait for each other%s', async (_, headers) => {
    const calls = await watchCalls(() => service.promote(workspace, 'a.txt', { headers }))
    expect(byDepth(calls)).toEqual([
      ['keys.find'],
      ['HeadObject', 'ledger.read', 'rateLimit.take'],
      ['documents.begin'],
      ['CopyObject'],
      ['ledger.hold'],
      ['documents.record'],
      ['ledger.capture'],
    ])
    expect(calls).toHaveLength(9)
  })

  it('is five calls when it repeats an Idempotency-Key, of which three wait for each other', async () => {
    const promote = () => service.promote(workspace, 'a.txt', { idempotencyKey: 'used' })
    await promote()
    await sleep(REST_MS)
    const calls = await watchCalls(promote)
    expect(byDepth(calls)).toEqual([
      ['keys.find'],
      ['HeadObject', 'ledger.read', 'rateLimit.take'],
      ['documents.begin'],
    ])
  })

  it('is two more for each look after a pause: it counts, and asks for the file', async () => {
    const promote = (headers: Record<string, string>) => () => service.promote(workspace, 'missing.txt', { headers })
    const [found, waited] = [await watchCalls(promote({})), await watchCalls(promote({ prefer: 'wait=1' }))]
    const more = Array(2).fill(['rateLimit.take', 'HeadObject']).flat()
    const names = (calls: Sent[]) => calls.map(({ name }) => name)
    expect(names(waited).toSorted()).toEqual([...names(found), ...more].toSorted())
  })

  it.each([
    ['eight units', {}, 5],
    ['nine with an expiry; no call more', { 'file-expires-in': '3600' }, 6],
  ])('writes %s, and reads two', async (_, headers, ofDocuments) => {
    const { calls, units } = await watchUnits(() => service.promote(workspace, 'a.txt', { headers }))
    expect(calls).toHaveLength(9)
    expect(units).toEqual({
      keys: { reads: 1, writes: 0 },
      'rate-limits': { reads: 0, writes: 1 },
      // Hold, capture.
      workspaces: { reads: 1, writes: 2 },
      // Begin, and its entry in the index of due work; record, the end of that entry, and the one in the index of lists.
      documents: { reads: 0, writes: ofDocuments },
    })
  })
})

it('what a deletion asks of AWS is nine calls, of which that of S3 is made beside the others, and nine units', async () => {
  const { body } = await service.promote(workspace, 'a.txt')
  await sleep(REST_MS)
  const parameters = { document_id: (body as { id: string }).id }
  const { calls, units } = await watchUnits(() => service.call('delete_document', workspace, { parameters }))
  const names = calls.map(({ name }) => name)
  expect(names.filter((name) => !isOfS3(name))).toEqual([
    ...['keys.find', 'rateLimit.take', 'documents.find', 'documents.delete'],
    ...['ledger.beginRefund', 'documents.nameRefund', 'ledger.payRefund', 'documents.bury'],
  ])
  expect(names.filter(isOfS3)).toEqual(['DeleteObject'])
  expect(names.indexOf('DeleteObject')).toBeLessThan(names.indexOf('documents.nameRefund'))
  expect(units).toEqual({
    keys: { reads: 1, writes: 0 },
    'rate-limits': { reads: 0, writes: 1 },
    // Begin and pay the refund.
    workspaces: { reads: 0, writes: 2 },
    // Delete, which leaves one index and enters another; name the refund; bury, which leaves that one.
    documents: { reads: 1, writes: 6 },
  })
})

describe('what the promotion of all files of a prefix asks of AWS', () => {
  it('is six calls a file besides the five of the request, and only these five when nothing is left to promote', async () => {
    const PATHS = ['output/1.txt', 'output/2.txt', 'output/3.txt']
    for (const path of PATHS) await service.putFile(workspace, path, Buffer.from('small'))
    const request = { parameters: { container_id: 'sess_1' }, body: { prefix: 'output/' } }
    const promoteAll = () => service.call('promote_container_files', workspace, request)
    const OF_THE_REQUEST = ['keys.find', 'rateLimit.take', 'ListObjectsV2', 'documents.findAll', 'ledger.read']
    const names = (await watchCalls(promoteAll)).map(({ name }) => name)
    const ofFiles = names.filter((name) => !OF_THE_REQUEST.includes(name))
    expect(new Set(ofFiles).size).toBe(6)
    // A crowded ledger is asked again.
    expect(ofFiles.filter((name) => name !== 'ledger.hold')).toHaveLength(5 * PATHS.length)
    const again = await watchCalls(promoteAll)
    expect(new Set(again.map(({ name }) => name))).toEqual(new Set(OF_THE_REQUEST))
  })
})
