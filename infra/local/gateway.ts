import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { isForeign } from './foreign-requests.ts'
import { createGatewayAnswers, type GatewayAnswer, outgoingName } from './gateway-answers.ts'
import { invokeFunction } from './invoke-function.ts'
import { close, listen } from './listen.ts'
import type { PageHandler } from './page.ts'
import { restEvent } from './rest-event.ts'
import { matchRoute, type Route } from './routes.ts'
import type { GatewayResponseDefinition } from './service-definition.ts'

/** API Gateway quotas, "REST API": payload size. */
const MAX_BODY_BYTES = 10 * 1024 * 1024

/** A request that was answered, for the log. */
export interface ServedRequest {
  method: string
  path: string
  status: number
  durationMs: number
  /** Reason of a refusal or failure. */
  reason: string | undefined
}

export interface Gateway {
  port: number
  stop(): Promise<void>
}

interface GatewayOptions {
  port: number
  stage: string
  /** Where functions are invoked; while they restart, it resolves when they have. */
  lambdaPort(): Promise<number>
  routes: readonly Route[]
  gatewayResponses: readonly GatewayResponseDefinition[]
  corsAllowedOrigins: readonly string[]
  onRequest?: (request: ServedRequest) => void
  /** What is served at paths that the API does not know. */
  page?: PageHandler
}

/**
 * A REST API in front of the functions: routes, Lambda proxy events, the payload limit, and the gateway responses of
 * serverless.yml for whatever no function answers. Every error has the error body, even the answer to something that is
 * not HTTP.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { routes, stage, onRequest } = options
  const agent = new Agent({ keepAlive: true })
  const answers = createGatewayAnswers(options.gatewayResponses, routes, options.corsAllowedOrigins)

  const handle = async (incoming: IncomingMessage): Promise<GatewayAnswer | APIGatewayProxyResult | 'gone'> => {
    const { path, query } = splitTarget(incoming.url ?? '')
    // RFC 9112 §3.2: exactly one.
    if (incoming.httpVersion !== '1.0' && incoming.headersDistinct.host?.length !== 1) return answers.ofType(MALFORMED)
    const match = matchRoute(routes, incoming.method ?? '', path)
    if (match.outcome === 'unknown_path') return answers.ofType('MISSING_AUTHENTICATION_TOKEN')
    if (match.outcome === 'wrong_method') {
      const preflight = incoming.method === 'OPTIONS' && answers.preflight(match.allowed, incoming.headers.origin)
      return preflight || answers.wrongMethod(match.allowed)
    }
    const body = await readBody(incoming)
    if (body === 'gone') return body
    if (body === 'too_large') return answers.ofType('REQUEST_TOO_LARGE')
    const event = restEvent({ ...match, incoming, path, query, body, stage, requestId: randomUUID() })
    const result = await invokeFunction(match.route.functionName, event, { port: await options.lambdaPort(), agent })
    return typeof result === 'string' ? answers.ofType(result, 502) : result
  }

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse, refusal?: GatewayAnswer): Promise<void> => {
    const startedAt = performance.now()
    keepOrder(incoming.socket, outgoing)
    const refused = refusal ?? (isForeign(incoming, options.corsAllowedOrigins) ? answers.foreign() : undefined)
    if (refused === undefined && options.page?.(incoming, outgoing, splitTarget(incoming.url ?? '').path)) return
    const answer = refused ?? (await handle(incoming).catch(() => answers.ofType('INTEGRATION_FAILURE')))
    if (answer === 'gone' || outgoing.destroyed) return
    const { status, body } = 'statusCode' in answer ? sendResult(answer, outgoing) : sendAnswer(answer, outgoing)
    onRequest?.({
      method: incoming.method ?? '',
      path: splitTarget(incoming.url ?? '').path,
      status,
      durationMs: performance.now() - startedAt,
      reason: status < 400 ? undefined : reasonIn(body),
    })
  }

  // Node.js would answer a missing Host and an unknown Expect itself, without the error body.
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => serve(incoming, outgoing))
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.writeContinue()
    return serve(incoming, outgoing)
  })
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) =>
    serve(incoming, outgoing, answers.ofType(MALFORMED)),
  )
  const refuse = async (socket: Duplex, answer: GatewayAnswer, hasBody = true): Promise<void> => {
    await answersBefore(socket)
    if (!socket.writable) return void socket.destroy()
    onRequest?.({ method: '-', path: '-', status: answer.status, durationMs: 0, reason: reasonIn(answer.body) })
    socket.end(rawAnswer(answer, hasBody))
  }
  server.on('clientError', (error: ParseError, socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    return void refuse(socket, answers.ofType(MALFORMED), !isHead(error))
  })
  server.on('connect', (_incoming, socket) => void refuse(socket, answers.ofType('MISSING_AUTHENTICATION_TOKEN')))

  const port = await listen(server, options.port)
  return {
    port,
    stop: async () => {
      await close(server)
      agent.destroy()
    },
  }
}

const MALFORMED = 'BAD_REQUEST_PARAMETERS'

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number }

/** The responses that a connection still owes. */
const owed = new WeakMap<Duplex, Set<ServerResponse>>()

function keepOrder(socket: Duplex, outgoing: ServerResponse): void {
  const responses = owed.get(socket) ?? new Set()
  owed.set(socket, responses.add(outgoing))
  outgoing.once('close', () => responses.delete(outgoing))
}

/** Requests may come before earlier ones are answered: a broken one must not be answered in their place. */
async function answersBefore(socket: Duplex): Promise<void> {
  const before = [...(owed.get(socket) ?? [])].filter(({ req }) => req.complete)
  await Promise.all(before.map((outgoing) => outgoing.closed || once(outgoing, 'close')))
}

/** Node.js makes no request of what it cannot parse. */
function isHead({ rawPacket, bytesParsed }: ParseError): boolean {
  const text = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  return (text.match(/^[A-Z-]+(?= (?:\/|http:))/gm)?.at(-1) ?? text.slice(0, 4)) === 'HEAD'
}

/** The path and query of a request target; one in absolute form has a scheme and host before them (RFC 9112 §3.2.2). */
function splitTarget(target: string): { path: string; query: string } {
  const origin = target.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...query] = origin.split('?')
  return { path: path === '' && target !== origin ? '/' : path, query: query.join('?') }
}

/** @returns 'gone' when the body broke off: nobody waits for an answer, or has had one */
async function readBody(incoming: IncomingMessage): Promise<Buffer | 'too_large' | 'gone'> {
  if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return 'too_large'
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    // Leaving the loop must not destroy the stream: that would close the connection before the answer.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      if (sizeBytes > MAX_BODY_BYTES) return 'too_large'
      chunks.push(chunk)
    }
  } catch {
    return 'gone'
  }
  return Buffer.concat(chunks)
}

function sendAnswer(answer: GatewayAnswer, outgoing: ServerResponse) {
  // Drains an unread body: a client still sending it would lose the answer with the connection.
  outgoing.req.resume()
  const hasBody = answer.status !== 204
  const length = hasBody ? { 'content-length': Buffer.byteLength(answer.body) } : {}
  outgoing.writeHead(answer.status, { ...answer.headers, ...length })
  outgoing.end(answer.body)
  return answer
}

function sendResult(result: APIGatewayProxyResult, outgoing: ServerResponse) {
  const { statusCode, headers = {}, multiValueHeaders = {}, body = '', isBase64Encoded = false } = result
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(outgoingName(name), String(value))
  for (const [name, values] of Object.entries(multiValueHeaders)) {
    outgoing.setHeader(outgoingName(name), values.map(String))
  }
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  outgoing.writeHead(statusCode, { 'content-length': bytes.length })
  outgoing.end(bytes)
  return { status: statusCode, body }
}

/** For a connection without a response object of Node.js. */
function rawAnswer({ status, headers, body }: GatewayAnswer, hasBody: boolean): string {
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close', 'content-length': body.length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${status === 404 ? 'Not Found' : 'Bad Request'}\r\n${lines.join('\r\n')}\r\n\r\n${hasBody ? body : ''}`
}

function reasonIn(body: string): string | undefined {
  try {
    return JSON.parse(body).error.metadata.reason
  } catch {
    return undefined
  }
}
