import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import type { ServiceDefinition } from '../../deploy/service-definition.ts'
import { close, hostNameIn, isForeign, isFromHere, listen, readBody } from '../loopback.ts'
import type { PageHandler } from '../page/page.ts'
import type { FunctionHost } from './function-host.ts'
import { createGatewayAnswers, outgoingName } from './gateway-answers.ts'
import { restEvent } from './rest-event.ts'
import { matchRoute } from './routes.ts'

/** API Gateway quotas, "REST API": payload size, and integration timeout. */
const MAX_BODY_BYTES = 10 * 1024 * 1024
const INTEGRATION_TIMEOUT_MS = 29_000
/** Lambda quotas: payload of an invocation that waits for the answer. */
const MAX_EVENT_BYTES = 6 * 1024 * 1024

export interface ServedRequest {
  method: string
  path: string
  status: number
  durationMs: number
  reason: string | undefined
}

interface GatewayOptions extends Pick<ServiceDefinition, 'routes'> {
  port: number
  /** Another name of this machine; with it, the gateway listens on all interfaces. */
  host?: string | undefined
  /** A URL on S3 for those who call by that name. */
  s3InContainers?: (url: string) => string
  invoke: FunctionHost['invoke']
  corsAllowedOrigins: readonly string[]
  onRequest?: ((request: ServedRequest) => void) | undefined
  /** What is served, on this machine, at paths that the API does not know. */
  page?: () => Promise<PageHandler>
}

/** A REST API in front of the functions. What is not HTTP, Node.js refuses in its own words. */
export async function startGateway(options: GatewayOptions) {
  const { routes, onRequest, host, corsAllowedOrigins: pages } = options
  const answers = createGatewayAnswers(pages)

  /** @returns undefined when nobody waits for an answer, or it has already been given */
  const handle = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<APIGatewayProxyResult | undefined> => {
    const { path, query } = splitTarget(incoming.url ?? '')
    const match = matchRoute(routes, incoming.method ?? '', path)
    if (match.outcome === 'unknown_path') {
      const page = isFromHere(incoming) ? await options.page?.() : undefined
      return (await page?.(incoming, outgoing, path)) ? undefined : answers.ofType('MISSING_AUTHENTICATION_TOKEN')
    }
    if (match.outcome === 'wrong_method') {
      const preflight = incoming.method === 'OPTIONS' && answers.preflight(match.allowed, incoming.headers.origin)
      return preflight || answers.wrongMethod(match.allowed)
    }
    // When it breaks off, nobody waits for an answer any more, or one has already been given.
    const body = await readBody(incoming, MAX_BODY_BYTES).catch(() => undefined)
    if (body === undefined) return undefined
    if (body === 'too_large') return TOO_LARGE
    const event = restEvent({ ...match, incoming, path, query, body, requestId: randomUUID() })
    const result = await invoke(match.route.functionName, event)
    return typeof result === 'string' ? answers.ofType(result) : renamed(result, incoming)
  }

  /** The functions know S3 by its address on this machine only. */
  const renamed = (result: APIGatewayProxyResult, { headers }: IncomingMessage): APIGatewayProxyResult => {
    const location = result.headers?.location
    if (location === undefined || host === undefined || hostNameIn(`${headers.host}`) !== host) return result
    return { ...result, headers: { ...result.headers, location: options.s3InContainers?.(`${location}`) ?? location } }
  }

  /** @returns the function's answer, or the gateway response instead; rejects when the function failed */
  const invoke = async (functionName: string, event: APIGatewayProxyEvent) => {
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return 'REQUEST_TOO_LARGE'
    const overdue = sleep(INTEGRATION_TIMEOUT_MS, 'INTEGRATION_TIMEOUT', { ref: false })
    const result = await Promise.race([options.invoke(functionName, event), overdue])
    return isProxyResult(result) || result === 'INTEGRATION_TIMEOUT' ? result : 'INTEGRATION_FAILURE'
  }

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const refused = isForeign(incoming, { pages, host }) ? answers.foreign() : undefined
    const answer = refused ?? (await handle(incoming, outgoing).catch(() => answers.ofType('INTEGRATION_FAILURE')))
    if (answer === undefined || outgoing.destroyed) return
    send(answer, outgoing)
    const { statusCode: status, body } = answer
    // The page looks every few seconds for what has changed: nobody needs to read of that.
    if ('page-look' in incoming.headers && status < 400) return
    onRequest?.({
      method: incoming.method ?? '',
      path: splitTarget(incoming.url ?? '').path,
      status,
      durationMs: performance.now() - startedAt,
      reason: status < 400 ? undefined : reasonIn(body),
    })
  }

  const server = createServer(serve)
  const port = await listen(server, options.port, { host })
  return { port, stop: () => close(server) }
}

/** API Gateway's own words: no gateway response changes them. */
const TOO_LARGE = {
  statusCode: 413,
  headers: { 'content-type': 'text; charset=utf-8' },
  body: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
}

/** The path and query of a request target; one in absolute form has a scheme and host before them (RFC 9112 §3.2.2). */
function splitTarget(target: string): { path: string; query: string } {
  const origin = target.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...query] = origin.split('?')
  return { path: path === '' && target !== origin ? '/' : path, query: query.join('?') }
}

function send(answer: APIGatewayProxyResult, outgoing: ServerResponse): void {
  const { statusCode, headers = {}, body } = answer
  // Drains an unread body: a client still sending it would lose the answer with the connection.
  outgoing.req.resume()
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(outgoingName(name), String(value))
  const bytes = Buffer.from(body ?? '')
  outgoing.writeHead(statusCode, statusCode === 204 ? {} : { 'content-length': bytes.length })
  outgoing.end(bytes)
}

function reasonIn(body: string): string | undefined {
  try {
    return JSON.parse(body).error.metadata.reason
  } catch {
    return undefined
  }
}

function isProxyResult(result: unknown): result is APIGatewayProxyResult {
  if (typeof result !== 'object' || result === null) return false
  const { statusCode, body } = result as Partial<Record<string, unknown>>
  const isStatus = Number.isInteger(statusCode) && Number(statusCode) >= 100 && Number(statusCode) <= 599
  return isStatus && (body === undefined || body === null || typeof body === 'string')
}
