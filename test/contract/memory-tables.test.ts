/** The table in memory beside dynalite itself, on random requests. */
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createMemoryDynamoDb } from '../support/aws/memory-dynamodb.ts'
import { casesOf, depth } from '../support/depth.ts'
import type { Content } from '../support/dynamodb/dynalite.ts'
import { type AnyOperation, anyOperation, TABLE } from '../support/dynamodb/random-operations.ts'

const OF_A_TABLE = 40
const OPERATIONS = casesOf('TABLE_OPERATIONS', depth() === 'whole' ? 10_000 : 400)
const SIGNED =
  'AWS4-HMAC-SHA256 Credential=test/20261126/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0'

let worker: Worker
let endpoint: string
beforeAll(async () => {
  worker = new Worker(new URL('../support/dynamodb/plain-dynalite.ts', import.meta.url))
  const said = Promise.withResolvers<string>()
  worker.once('message', said.resolve).once('error', said.reject)
  endpoint = await said.promise
})
afterAll(async () => void (await worker.terminate()))

const memory = createMemoryDynamoDb()
type Answer = { status: number; content: Content }

async function inMemory(headers: Record<string, string>, body: string): Promise<Answer> {
  const answer = await memory.store({ method: 'POST', path: '/', headers, body: Buffer.from(body) })
  return { status: answer.status, content: JSON.parse(String(answer.body)) }
}

async function onDynalite(headers: Record<string, string>, body: string): Promise<Answer> {
  const answer = await fetch(endpoint, { method: 'POST', headers, body })
  return { status: answer.status, content: (await answer.json()) as Content }
}

async function ask(operation: string, input: Content): Promise<Record<'expected' | 'received', Answer>> {
  const headers = {
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': '20261126T000000Z',
    authorization: SIGNED,
  }
  const body = JSON.stringify(input)
  const [received, expected] = await Promise.all([inMemory(headers, body), onDynalite(headers, body)])
  return { received, expected }
}

it(`a table in memory answers ${OPERATIONS} random requests as dynalite does`, { timeout: 600_000 }, async () => {
  let tables = 0
  const outcomes = new Map<string, number>()
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)

  const compare = async (operations: AnyOperation[]) => {
    const TableName = `table-${tables++}`
    await ask('CreateTable', { TableName, ...TABLE })
    // dynalite makes it a moment later.
    await vi.waitUntil(async () => {
      const { expected } = await ask('DescribeTable', { TableName })
      return (expected.content.Table as Content | undefined)?.TableStatus === 'ACTIVE'
    })
    const last = new Map<string, unknown>()
    for (const { operation, input, goesOn } of operations) {
      const place = `${operation} ${input.IndexName}`
      const start = goesOn && last.get(place)
      const { received, expected } = await ask(operation, {
        TableName,
        ...input,
        ...(start ? { ExclusiveStartKey: start } : {}),
      })
      expect(received, `${operation} ${JSON.stringify(input)}`).toEqual(expected)
      last.set(place, expected.content.LastEvaluatedKey)
      count(`${operation} ${String(expected.content.__type ?? 'done').replace(/.*#/, '')}`)
    }
  }

  const sequence = fc.array(anyOperation, { minLength: OF_A_TABLE, maxLength: OF_A_TABLE })
  await fc.assert(fc.asyncProperty(sequence, compare), {
    numRuns: OPERATIONS / OF_A_TABLE,
    // It names the request that was answered otherwise.
    endOnFailure: true,
  })
  console.log(Object.fromEntries([...outcomes].sort()))
})
