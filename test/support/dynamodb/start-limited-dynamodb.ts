import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { close, LOOPBACK, listen } from '../../../infra/local/loopback.ts'
import type { StandIn } from '../../../infra/local/stores/dynamodb.ts'
import type { Content } from './dynalite.ts'
import { DynamoDbFailure } from './failures.ts'
import { createLimitedDynamoDb, type LimitedDynamoDb, type LimitedDynamoDbOptions } from './limited-dynamodb.ts'

/** The embedded DynamoDB with the limits of the real one, both over the wire and directly. */
export async function startLimitedDynamoDb(
  options: LimitedDynamoDbOptions,
): Promise<StandIn & { dynamoDb: LimitedDynamoDb }> {
  const dynamoDb = createLimitedDynamoDb(options)
  const answer = async (operation: string, body: string): Promise<{ statusCode: number; content: Content }> => {
    try {
      return { statusCode: 200, content: await dynamoDb.execute(operation, JSON.parse(body)) }
    } catch (error) {
      if (error instanceof DynamoDbFailure) return { statusCode: error.statusCode, content: error.body }
      console.error(error)
      return { statusCode: 500, content: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' } }
    }
  }
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).replace(/^.*\./, '')
    const { statusCode, content } = await answer(operation, await text(incoming))
    const body = JSON.stringify(content)
    outgoing.writeHead(statusCode, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
    })
    outgoing.end(body)
  })
  // DynamoDB, too, keeps connections for much longer than Node's 5 s.
  server.keepAliveTimeout = 60_000
  const port = await listen(server, 0)
  return { dynamoDb, endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}
