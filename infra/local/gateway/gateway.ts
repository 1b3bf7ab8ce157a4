import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { compareBytes } from '../../../lib/object-keys.ts'
import * as own from '../../deploy/gateway-responses.ts'
import type { Route, ServiceDefinition } from '../../deploy/service-definition.ts'
import { close, hostNameIn, isForeign, isFromHere, listen, REFUSAL, readBody } from '../loopback.ts'
import type { PageHandler } from '../page/page.ts'
import type { FunctionHost } from './function-host.ts'
import { type RestRequest, restEvent } from './rest-event.ts'

/** Lambda quotas: payload of an invocation that waits for the answer. */
const MAX_BODY_BYTES = 6 * 1024 * 1024

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
  /** Serves paths that the API does not know, on this machine. */
  page?: () => Promise<PageHandler>
}

type Target = Pick<RestRequest, 'path' | 'query'>

/** A REST API in front of the functions, all of which end before its own time would be over. */
export async function startGateway(options: GatewayOptions) {
  const { routes, onRequest, host, corsAllowedOrigins: pages } = options
  const isForPages = pages.length > 0

  /** An answer of the gateway's own, as the template has it. */
  const toResult = ({ status, headers, body }: own.GatewayAnswer): APIGatewayProxyResult => {
    const id = randomUUID()
    const common = { 'content-type': 'application/json', 'x-request-id': id, 'request-id': id }
    return {
      statusCode: status,
      headers: { ...common, ...headers, ...(isForPages && own.OWN_ANSWER_HEADERS) },
      body: body.replaceAll('$context.extendedRequestId', id),
    }
  }

  const preflight = (methods: readonly string[], origin = ''): APIGatewayProxyResult => {
    const allowed = pages.includes(origin) ? { 'access-control-allow-origin': origin } : {}
    return { statusCode: 204, headers: { ...own.preflightHeaders(methods), ...allowed }, body: '' }
  }

  /** @returns undefined when nobody waits for an answer, or it has already been given */
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse, { path, query }: Target) => {
    if (isForeign(incoming, { pages, host })) return toResult(own.refusal('request_blocked', { detail: REFUSAL }))
    const match = matchRoute(routes, incoming.method ?? '', path)
    if (match.outcome === 'unknown_path') {
      const page = isFromHere(incoming) ? await options.page?.() : undefined
      return (await page?.(incoming, outgoing, path)) ? undefined : toResult(own.refusal('route_not_found'))
    }
    if (match.outcome === 'wrong_method') {
      if (!isForPages) return toResult(own.wrongMethod(path, match.allowed))
      if (incoming.method === 'OPTIONS') return preflight(match.allowed, incoming.headers.origin)
      return toResult(own.wrongMethod(path, [...match.allowed, 'OPTIONS']))
    }
    const body = await readBody(incoming, MAX_BODY_BYTES).catch(() => undefined)
    if (body === undefined) return undefined
    if (body === 'too_large') return toResult(own.refusal('request_too_large'))
    const event = restEvent({ route: match.route, incoming, path, query, body }, match.pathParameters)
    return renamed((await options.invoke(match.route.functionName, event)) as APIGatewayProxyResult, incoming)
  }

  /** The functions know S3 by its address on this machine only. */
  const renamed = (result: APIGatewayProxyResult, { headers }: IncomingMessage): APIGatewayProxyResult => {
    const location = result.headers?.location
    if (location === undefined || host === undefined || hostNameIn(`${headers.host}`) !== host) return result
    return { ...result, headers: { ...result.headers, location: options.s3InContainers?.(`${location}`) ?? location } }
  }

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const [path = '', ...rest] = (incoming.url ?? '').split('?')
    const target = { path, query: rest.join('?') }
    const answer = await handle(incoming, outgoing, target).catch(() => toResult(own.refusal('internal_error')))
    if (answer === undefined || outgoing.destroyed) return
    send(answer, outgoing)
    const { statusCode: status, body, headers } = answer
    // The page looks every few seconds for what has changed: nobody needs to read of that.
    if ('page-look' in incoming.headers && status < 400) return
    const isJson = headers?.['content-type'] === 'application/json'
    onRequest?.({
      method: incoming.method ?? '',
      // Nothing that opens a link is to be in a log.
      path: path.replace(/cfl_[^/]*/g, 'cfl_…'),
      status,
      durationMs: performance.now() - startedAt,
      reason: status < 400 || !isJson ? undefined : JSON.parse(body).error?.metadata.reason,
    })
  }

  const server = createServer(serve)
  const port = await listen(server, options.port, { host })
  return { port, stop: () => close(server) }
}

/** As a REST API does: by bytes, nothing decoded, a fixed segment before a parameter, with or without a slash at the end. */
export function matchRoute(routes: readonly Route[], method: string, path: string) {
  const onPath = routes.flatMap((route) => {
    const match = new RegExp(`^${route.resource.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}/?$`, 's').exec(path)
    return match ? [{ route, pathParameters: { ...match.groups } }] : []
  })
  // "{" comes after every letter and digit.
  const [best] = onPath.toSorted((a, b) => compareBytes(a.route.resource, b.route.resource))
  if (best === undefined) return { outcome: 'unknown_path' } as const
  const onResource = onPath.filter(({ route }) => route.resource === best.route.resource)
  const found = onResource.find(({ route }) => route.method === method)
  const allowed = onResource.map(({ route }) => route.method).toSorted()
  return found ? ({ outcome: 'found', ...found } as const) : ({ outcome: 'wrong_method', allowed } as const)
}

function send(answer: APIGatewayProxyResult, outgoing: ServerResponse): void {
  const { statusCode, headers = {}, body } = answer
  // Drains an unread body: a client still sending it would lose the answer with the connection.
  outgoing.req.resume()
  for (const [name, value] of Object.entries(headers)) {
    // API Gateway renames it ("Important notes", REST APIs).
    const isRenamed = name.toLowerCase() === 'www-authenticate'
    outgoing.setHeader(isRenamed ? `x-amzn-remapped-${name}` : name, String(value))
  }
  const bytes = Buffer.from(body ?? '')
  // The answer to a HEAD says how long another one would be.
  const hasLength = statusCode === 204 || outgoing.hasHeader('content-length')
  outgoing.writeHead(statusCode, hasLength ? {} : { 'content-length': bytes.length })
  outgoing.end(bytes)
}
