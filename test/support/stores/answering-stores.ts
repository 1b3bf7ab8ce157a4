import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterEach } from 'vitest'
import { listen } from '../../../infra/local/loopback.ts'
import { type SendOptions, send } from '../../../lib/aws/calls/send.ts'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'

export type Answer = RequestListener

export const json = (status: number, body: object, headers: Record<string, string> = {}): Answer => {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers })
    response.end(JSON.stringify(body))
  }
}
export const refusal = (type: string, headers = {}): Answer =>
  json(400, { __type: `com.amazonaws#${type}`, message: type }, headers)
export const GOOD = json(200, {})
export const THROTTLED = refusal('ProvisionedThroughputExceededException')
export const FAILED = json(500, { __type: 'InternalServerError' })
export const BROKEN: Answer = (_, response) => void response.destroy()
export const NO_HTTP: Answer = (_, response) => void response.socket?.end('no HTTP\r\n\r\n')
export const CUT_OFF: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"Item":')
  setTimeout(() => response.destroy(), 20)
}
export const UNREADABLE: Answer = (_, response) => void response.writeHead(200).end('<html>')
export const HANGS: Answer = () => {}

/** A server that gives each request, once it has arrived, the answer that is chosen for it. */
export async function answerWith(choose: (request: IncomingMessage) => Answer | undefined) {
  const server = createServer((request, response) => {
    const answer = choose(request)
    request.resume().on('end', () => answer?.(request, response))
  })
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port: await listen(server, 0), stop }
}

/** A test's own stores on sockets, and their clients; all stop when the test ends. */
export function useAnsweringStores() {
  const stopping: (() => void)[] = []
  const stopAll = () => {
    for (const stop of stopping.splice(0).reverse()) stop()
  }
  afterEach(stopAll)

  /** A DynamoDB that gives these answers, the last one for ever. */
  async function startStore(...answers: Answer[]) {
    let calls = 0
    const { port, stop } = await answerWith(() => answers[Math.min(calls++, answers.length - 1)])
    stopping.push(stop)
    const client = clientOf(`http://127.0.0.1:${port}`)
    return { call: (options?: Partial<SendOptions>) => call(client, options), calls: () => calls, port }
  }

  /** Asks a store that gives these answers. @returns how often it was called, and what that ended with, if it failed */
  async function ask(answers: Answer[], options?: Partial<SendOptions>) {
    const store = await startStore(...answers)
    const error: unknown = await store.call(options).then(
      () => undefined,
      (failure) => failure,
    )
    return { calls: store.calls(), error }
  }

  function clientOf(endpoint: string): DynamoDBClient {
    const client = createDynamoDbClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS })
    stopping.push(() => client.destroy())
    return client
  }

  return { ask, startStore, clientOf, stopAll, onStop: (...stops: (() => void)[]) => void stopping.push(...stops) }
}

export const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
export const call = (client: DynamoDBClient, options: Partial<SendOptions> = {}) =>
  send(client, new GetItemCommand({ TableName: 't', Key: { k: { S: 'k' } } }), {
    name: 'ledger.read',
    signal: AbortSignal.timeout(10_000),
    ...options,
  })
export const unavailable = (isUnanswered: boolean) => ({ reason: 'service_unavailable', isUnanswered })
