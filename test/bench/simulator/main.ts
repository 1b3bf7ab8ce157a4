import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK, listen } from '../../../infra/local/loopback.ts'
import { nameS3Call } from '../../support/aws/name-s3-call.ts'
import { serve } from '../worker.ts'
import { answerDynamoDb, nameDynamoDbCall } from './dynamodb.ts'
import { answerS3, bytesMoved, type SimulatedAnswer } from './s3.ts'

/** How long AWS takes. Every number is an assumption; docs/performance.md says where it comes from. */
export interface Model {
  /** The time until the first byte of each answer. */
  latencyMs: number
  /** How fast S3 copies in one request. */
  streamBytesPerSecond: number
}

/** A call as the simulator saw it. */
export interface SeenCall {
  name: string
  path: string
  headers: Record<string, string>
  body: string
}

export interface Seen {
  calls: SeenCall[]
  mostConnections: number
}

let model: Model = { latencyMs: 0, streamBytesPerSecond: Number.POSITIVE_INFINITY }
let isRecording = false
let connections = 0
let seen: Seen = nothingSeen()

const server = createServer(handle)
// As S3 does it: connections are kept for much longer than Node's 5 s.
server.keepAliveTimeout = 60_000
server.on('connection', (socket) => {
  seen.mostConnections = Math.max(seen.mostConnections, ++connections)
  socket.setNoDelay(true)
  socket.on('close', () => connections--)
})
const port = await listen(server, 0)

/** DynamoDB and S3 under one address: DynamoDB's calls have a target header. */
async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { headers, method = '', url: path = '' } = incoming
  const body = headers['content-length'] === '0' ? '' : (await buffer(incoming)).toString()
  const isDynamoDb = headers['x-amz-target'] !== undefined
  const name = isDynamoDb ? nameDynamoDbCall(body) : nameS3Call({ method, path }, headers)
  const bytes = isDynamoDb ? 0 : bytesMoved(name, headers)
  const delayMs = model.latencyMs + (bytes / model.streamBytesPerSecond) * 1000
  if (isRecording) seen.calls.push({ name, path, headers: headers as SeenCall['headers'], body })
  if (delayMs > 0) await sleep(delayMs)
  send(outgoing, isDynamoDb ? answerDynamoDb(name, body) : answerS3(name, path))
}

function send(outgoing: ServerResponse, { status, headers, body }: SimulatedAnswer): void {
  outgoing.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers })
  outgoing.end(body)
}

function nothingSeen(): Seen {
  return { calls: [], mostConnections: connections }
}

const methods = {
  endpoint: () => `http://${LOOPBACK}:${port}`,
  become(next: Model): void {
    model = next
  },
  /** From now on, calls are noted. */
  watch(): void {
    isRecording = true
    seen = nothingSeen()
  },
  seen(): Seen {
    isRecording = false
    return seen
  },
}
export type SimulatorMethods = typeof methods

serve(methods)
