import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** Loopback is no wall to a browser: any page may send requests there, or have its own name lead there (DNS rebinding). */
const OWN_HOST = /^(127\.0\.0\.1|localhost)(:\d+)?$/i

export const REFUSAL =
  'This is a server of npm start: it answers at 127.0.0.1 or localhost only, and no page of another origin but those of corsAllowedOrigins.'

/**
 * Whether a page that may not use this server sent a request, or could have. Only browsers send Origin and
 * Sec-Fetch-Site, which no page can change; a link from anywhere is no harm.
 * @param pages origins that may, besides the server's own
 */
export function isForeign({ headers }: IncomingMessage, pages: readonly string[]): boolean {
  const { host, origin, 'sec-fetch-site': site = 'none', 'sec-fetch-dest': destination } = headers
  // HTTP/1.0 needs no Host.
  if (host !== undefined && !OWN_HOST.test(host)) return true
  if (origin !== undefined) return origin !== `http://${host}` && !pages.includes(origin)
  return site !== 'none' && site !== 'same-origin' && destination !== 'document'
}

/** Has a server refuse such requests before it looks at them. @param server or the prototype of all servers of a process */
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
