import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startServiceUnderFaults } from '../support/service-under-faults.ts'
import type { TestWorkspace } from '../support/world.ts'

interface SentCommand {
  constructor: { name: string }
  input: { ReturnConsumedCapacity?: string }
}
interface Sent {
  name: string
  /** Calls on the longest way that ends with this one: it was sent when all before it had been answered. */
  depth: number
  /** Of DynamoDB: half units read, whole units written. */
  capacityUnits: number | undefined
}

let service: Awaited<ReturnType<typeof startServiceUnderFaults>>
let workspace: TestWorkspace

beforeAll(async () => {
  service = await startServiceUnderFaults()
  workspace = await service.newWorkspace()
  await service.putFile(workspace, 'a.txt', Buffer.from('small'))
  await service.promote(workspace, 'a.txt')
})
// Until the key is quiet again: a busy one may take the rate limiter a second call.
beforeEach(() => sleep(200))
afterAll(() => service.stop())

/** What the clients were asked to send during the work. Calls made side by side are all sent before any can be answered. */
async function watchCalls(work: () => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = []
  let answeredDepth = 0
  const spies = [DynamoDBClient, S3Client].map((client) => {
    const { send } = client.prototype
    return vi.spyOn(client.prototype, 'send').mockImplementation(async function (this: unknown, ...args: unknown[]) {
      const command = args[0] as SentCommand
      const call: Sent = { name: command.constructor.name, depth: answeredDepth + 1, capacityUnits: undefined }
      sent.push(call)
      if (client === DynamoDBClient) command.input.ReturnConsumedCapacity = 'TOTAL'
      const answer = await Reflect.apply(send, this, args)
      answeredDepth = Math.max(answeredDepth, call.depth)
      call.capacityUnits = answer.ConsumedCapacity?.CapacityUnits
      return answer
    })
  })
  await work().finally(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return sent
}

describe('what a plain promotion asks of AWS', () => {
  it('is seven calls, not one more', async () => {
    service.takeCalls()
    await service.promote(workspace, 'a.txt')
    expect(service.takeCalls().map(({ name }) => name)).toEqual([
      'keys.find',
      'rateLimit.take',
      'ledger.reserve',
      'documents.record',
      'ledger.settle',
      'HeadObject',
      'CopyObject',
    ])
  })

  it('waits for six calls, one after the other, not one more', async () => {
    const calls = await watchCalls(() => service.promote(workspace, 'a.txt'))
    expect(calls.map(({ name, depth }) => [depth, name])).toEqual([
      [1, 'GetItemCommand'],
      [2, 'UpdateItemCommand'],
      [2, 'HeadObjectCommand'],
      [3, 'UpdateItemCommand'],
      [4, 'CopyObjectCommand'],
      [5, 'UpdateItemCommand'],
      [6, 'UpdateItemCommand'],
    ])
  })

  it('writes four units and reads one', async () => {
    const calls = await watchCalls(() => service.promote(workspace, 'a.txt'))
    const unitsOf = (command: string) =>
      calls.flatMap(({ name, capacityUnits }) => (name === command ? capacityUnits : []))
    expect(unitsOf('UpdateItemCommand')).toEqual([1, 1, 1, 1])
    expect(unitsOf('GetItemCommand')).toEqual([1])
  })
})
