import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { GatewayAnswer } from './gateway-answers.ts'

type ParseError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number }

/** The responses that a connection still owes. */
const owed = new WeakMap<Duplex, Set<ServerResponse>>()

export function keepOrder(socket: Duplex, outgoing: ServerResponse): void {
  const responses = owed.get(socket) ?? new Set()
  owed.set(socket, responses.add(outgoing))
  outgoing.once('close', () => responses.delete(outgoing))
}

/** A broken request may come before earlier ones are answered, and must not be answered in their place. */
async function answersBefore(socket: Duplex): Promise<void> {
  const before = [...(owed.get(socket) ?? [])].filter(({ req }) => req.complete)
  await Promise.all(before.map((outgoing) => outgoing.closed || once(outgoing, 'close')))
}

/** Node.js makes no request of what it cannot parse. */
function isHead({ rawPacket, bytesParsed }: ParseError): boolean {
  const text = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  return (text.match(/^[A-Z-]+(?= (?:\/|http:))/gm)?.at(-1) ?? text.slice(0, 4)) === 'HEAD'
}

/** Answers with the error body whatever Node.js cannot parse. @param answerOf the gateway response of a type */
export function answerMalformed(server: Server, answerOf: (type: string) => GatewayAnswer): void {
  const refuse = async (socket: Duplex, type: string, hasBody = true): Promise<void> => {
    await answersBefore(socket)
    if (socket.writable) socket.end(rawAnswer(answerOf(type), hasBody))
    else socket.destroy()
  }
  server.on('clientError', (error: ParseError, socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    return void refuse(socket, 'BAD_REQUEST_PARAMETERS', !isHead(error))
  })
  server.on('connect', (_incoming, socket) => void refuse(socket, 'MISSING_AUTHENTICATION_TOKEN'))
}

function rawAnswer({ statusCode: status, headers, body }: GatewayAnswer, hasBody: boolean): string {
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close', 'content-length': body.length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${status === 404 ? 'Not Found' : 'Bad Request'}\r\n${lines.join('\r\n')}\r\n\r\n${hasBody ? body : ''}`
}
