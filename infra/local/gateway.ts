import { randomUUID } from 'node:crypto'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { close, LOOPBACK, listen } from './listen.ts'
import type { GatewayResponseDefinition } from './service-definition.ts'

/** API Gateway quotas, "REST API": payload size. */
const MAX_BODY_BYTES = 10 * 1024 * 1024

const HOP_BY_HOP = ['connection', 'transfer-encoding']

export interface Gateway {
  port: number
  stop(): Promise<void>
}

/**
 * What serverless-offline lacks of a REST API: path parameters that stay encoded as they came, the renamed
 * WWW-Authenticate, the size limit, and the gateway responses of serverless.yml for whatever no function answers.
 */
export async function startGateway(options: {
  port: number
  functionHostPort: number
  gatewayResponses: GatewayResponseDefinition[]
}): Promise<Gateway> {
  const agent = new Agent({ keepAlive: true })
  const answer = createGatewayAnswers(options.gatewayResponses)

  const server = createServer(async (incoming, outgoing) => {
    try {
      if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
        incoming.resume()
        return answer(outgoing, 'REQUEST_TOO_LARGE', 413)
      }
      const upstream = await forward(incoming, await buffer(incoming), options.functionHostPort, agent)
      // Every answer of a function carries the id of its request; what has none comes from serverless-offline itself.
      if (upstream.headers['x-request-id'] !== undefined) return passOn(upstream, outgoing)
      upstream.resume()
      return answer(outgoing, ...gatewayCase(upstream.statusCode ?? 502))
    } catch {
      answer(outgoing, 'INTEGRATION_FAILURE', 503)
    }
  })
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  const port = await listen(server, options.port)
  return {
    port,
    stop: async () => {
      await close(server)
      agent.destroy()
    },
  }
}

function forward(incoming: IncomingMessage, body: Buffer, port: number, agent: Agent): Promise<IncomingMessage> {
  const [path = '', ...query] = (incoming.url ?? '/').split('?')
  // serverless-offline decodes path parameters once; a REST API hands them over as they came.
  const url = [path.replaceAll('%', '%25'), ...query].join('?')
  return new Promise((resolve, reject) => {
    // serverless-offline refuses forms before it looks for the route; no operation reads a body.
    const isForm = incoming.headers['content-type']?.startsWith('multipart/') ?? false
    const withheld = isForm ? [...HOP_BY_HOP, 'content-type', 'content-length'] : HOP_BY_HOP
    const outgoing = request({ host: LOOPBACK, port, agent, method: incoming.method, path: url }, resolve)
    for (const [name, values] of Object.entries(incoming.headersDistinct)) {
      if (!withheld.includes(name)) outgoing.setHeader(name, values ?? [])
    }
    outgoing.on('error', reject)
    outgoing.end(isForm ? undefined : body)
  })
}

function passOn(upstream: IncomingMessage, outgoing: ServerResponse): void {
  for (const [name, values] of Object.entries(upstream.headersDistinct)) {
    const isRenamed = name === 'www-authenticate'
    if (name !== 'connection') outgoing.setHeader(isRenamed ? `x-amzn-remapped-${name}` : name, values ?? [])
  }
  outgoing.writeHead(upstream.statusCode ?? 502)
  upstream.pipe(outgoing)
}

function gatewayCase(status: number): [type: string, status: number] {
  if (status === 404) return ['MISSING_AUTHENTICATION_TOKEN', status]
  if (status === 504) return ['INTEGRATION_TIMEOUT', status]
  return [status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX', status]
}

function createGatewayAnswers(definitions: GatewayResponseDefinition[]) {
  const byType = new Map(definitions.map((definition) => [definition.ResponseType, definition]))

  return (outgoing: ServerResponse, type: string, ownStatus: number): void => {
    const definition = byType.get(type)
    if (definition === undefined) throw new Error(`serverless.yml has no gateway response ${type}`)
    const requestId = randomUUID()
    for (const [name, value] of Object.entries(definition.ResponseParameters)) {
      const isQuoted = value.startsWith("'")
      outgoing.setHeader(name.replace('gatewayresponse.header.', ''), isQuoted ? value.slice(1, -1) : requestId)
    }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.writeHead(Number(definition.StatusCode ?? ownStatus))
    outgoing.end(definition.ResponseTemplates['application/json'].replaceAll('$context.requestId', requestId))
  }
}
