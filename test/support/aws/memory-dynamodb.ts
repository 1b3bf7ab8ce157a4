import { DynamoDbFailure } from '../dynamodb/failures.ts'
import { createLimitedDynamoDb, type LimitedDynamoDbOptions } from '../dynamodb/limited-dynamodb.ts'
import { UNLIMITED } from '../dynamodb/throughput.ts'
import type { Store } from './store.ts'

const WITHOUT_LIMITS: LimitedDynamoDbOptions = { now: Date.now, staleMs: 0, limits: UNLIMITED }

/** dynalite's own rules in this process, without sockets and files. @param options its limits; omitted: none */
export function createMemoryDynamoDb(options = WITHOUT_LIMITS) {
  const dynamoDb = createLimitedDynamoDb(options)
  const store: Store = async ({ headers, body }) => {
    const operation = String(headers['x-amz-target']).replace(/^.*\./, '')
    const { status, content } = await dynamoDb.execute(operation, JSON.parse(body.toString())).then(
      (answer) => ({ status: 200, content: answer }),
      (error: unknown) => {
        if (error instanceof DynamoDbFailure) return { status: error.statusCode, content: error.body }
        console.error(error)
        return { status: 500, content: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' } }
      },
    )
    const text = JSON.stringify(content)
    const length = String(Buffer.byteLength(text))
    return { status, headers: { 'content-type': 'application/x-amz-json-1.0', 'content-length': length }, body: text }
  }
  return { store, ...dynamoDb }
}
