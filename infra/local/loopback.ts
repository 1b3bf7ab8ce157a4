import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

export const LOOPBACK = '127.0.0.1'

/** Loopback is no barrier to a browser: any page may send requests there, or point a name at it (DNS rebinding). */
const OWN_NAMES = [LOOPBACK, 'localhost']

export const REFUSAL =
  'This is a server of npm start: it answers at 127.0.0.1, localhost and the name given with --host only, and no page of another origin but those of corsAllowedOrigins.'

/** Origins whose pages may ask; another name of this machine, with which the server listens on all interfaces. */
export type Access = { pages?: readonly string[] | undefined; host?: string | undefined }

/** Only browsers send Origin and Sec-Fetch-Site, which no page can change; a link from anywhere is harmless. */
export function isForeign({ headers }: IncomingMessage, { pages = [], host: name }: Access): boolean {
  const { host, origin, 'sec-fetch-site': site = 'none', 'sec-fetch-dest': destination } = headers
  // HTTP/1.0 needs no Host.
  if (host !== undefined && ![...OWN_NAMES, name].includes(hostNameIn(host))) return true
  if (origin !== undefined) return origin !== `http://${host}` && !pages.includes(origin)
  return site !== 'none' && site !== 'same-origin' && destination !== 'document'
}

export type StandIn = { endpoint: string; stop(): Promise<void> }

/** Starts a server that refuses such requests before it looks at them. @param port 0: any free one */
export async function startStandIn(server: Server, port: number, access: Access = {}): Promise<StandIn> {
  const listeners = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request').on('request', (request, response) => {
    if (!isForeign(request, access)) for (const listener of listeners) listener(request, response)
    else response.writeHead(403, { connection: 'close', 'content-type': 'text/plain' }).end(REFUSAL)
  })
  return { endpoint: `http://${LOOPBACK}:${await listen(server, port, access)}`, stop: () => close(server) }
}

export const hostNameIn = (host: string) => host.toLowerCase().replace(/:\d+$/, '')

/** Whether a program on this machine asks, or a container whose network hands its requests on from here. */
export const isFromHere = ({ socket }: IncomingMessage) => /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')

/** Listens on loopback only, unless it has another name. @returns the port, chosen by the system when asked for 0 */
export async function listen(server: Server, port: number, { host }: Access = {}): Promise<number> {
  server.listen(port, host === undefined ? LOOPBACK : undefined)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** The bytes of a request. The end of reading must not close the connection before the answer. */
export const arriving = (incoming: IncomingMessage): AsyncIterable<Buffer> =>
  incoming.iterator({ destroyOnReturn: false })

/** Reads a short body into memory. @throws when it breaks off */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | 'too_large'> {
  const chunks: Buffer[] = []
  let leftBytes = maxBytes
  if (Number(incoming.headers['content-length']) > maxBytes) return 'too_large'
  for await (const chunk of arriving(incoming)) {
    leftBytes -= chunk.length
    if (leftBytes < 0) return 'too_large'
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export async function close(server: Server): Promise<void> {
  const closed = promisify(server.close.bind(server))()
  server.closeAllConnections()
  await closed
}
