import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

export const LOOPBACK = '127.0.0.1'

/** Loopback is no barrier to a browser: any page may send requests there, or point a name at it (DNS rebinding). */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/i

export const REFUSAL =
  'This is a server of npm start: it answers at 127.0.0.1 or localhost only, and no page of another origin but those of corsAllowedOrigins.'

/** Only browsers send Origin and Sec-Fetch-Site, which no page can change; a link from anywhere is harmless. */
export function isForeign({ headers }: IncomingMessage, pages: readonly string[]): boolean {
  const { host, origin, 'sec-fetch-site': site = 'none', 'sec-fetch-dest': destination } = headers
  // HTTP/1.0 needs no Host.
  if (host !== undefined && !OWN_HOST.test(host)) return true
  if (origin !== undefined) return origin !== `http://${host}` && !pages.includes(origin)
  return site !== 'none' && site !== 'same-origin' && destination !== 'document'
}

/** Makes a server refuse such requests before it looks at them. */
export function refuseForeign(server: Server, pages: readonly string[] = []): void {
  const { emit } = server
  server.emit = function (this: Server, event: string, ...args: unknown[]) {
    const [request, response] = args as [IncomingMessage, ServerResponse]
    const isRequest = event === 'request' || event === 'checkContinue'
    if (!isRequest || !isForeign(request, pages)) return Reflect.apply(emit, this, [event, ...args])
    response.writeHead(403, { connection: 'close', 'content-type': 'text/plain' }).end(REFUSAL)
    return true
  }
}

/** Listens on loopback only. @returns the port, chosen by the system when asked for 0 */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** The embedded S3's port, always the same for a port of the API. @param port of the API; 0: any */
export function s3PortBeside(port: number): number {
  if (port === 0) return 0
  return port === 65_535 ? port - 1 : port + 1
}

/** Stops listening and cuts the connections that are still open. */
export async function close(server: Server): Promise<void> {
  const closed = promisify(server.close.bind(server))()
  server.closeAllConnections()
  await closed
}
