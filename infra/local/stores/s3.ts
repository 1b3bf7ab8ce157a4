import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AwsCredentialIdentity } from '@smithy/types'
import { type Access, arriving, readBody, type StandIn, startStandIn } from '../loopback.ts'
import { failure, type S3Answer, S3Failure, type S3Request } from './s3-answers.ts'
import { openContents, type Piece } from './s3-contents.ts'
import { createS3 } from './s3-operations.ts'
import { requireSignature } from './s3-signatures.ts'

/** More than the XML of 10,000 parts. */
const MAX_XML_BYTES = 4 * 1024 * 1024

/** The credentials are of whoever may sign; without a port, it takes any free one. */
type Options = Access & { directory: string; credentials: AwsCredentialIdentity; s3Port?: number | undefined }

/** An embedded S3 that keeps its objects in a directory. Requests must be signed. */
export async function startS3(options: Options): Promise<StandIn> {
  // The origins are known when the gateway listens.
  const { directory, credentials, s3Port = 0, pages = [] } = options
  const { contents, disk } = openContents(directory)
  const s3 = createS3(contents, disk)

  /** Nothing stays of bytes that come to belong to nothing. */
  const store = async (request: Omit<S3Request, 'body'>, content: AsyncIterable<Buffer>): Promise<S3Answer> => {
    const body = await disk.receive(content)
    let answered: S3Answer | undefined
    try {
      answered = s3({ ...request, body })
      return answered
    } finally {
      if (answered?.status !== 200) disk.discard(body.pieces)
    }
  }
  const handle = async (incoming: IncomingMessage): Promise<S3Answer> => {
    const { method = '', url: path = '', headers } = incoming
    const [, key = ''] = /^\/[^/?]*\/?([^?]*)/.exec(path) ?? []
    requireSignature(incoming, credentials)
    if (method === 'PUT' && key !== '' && headers['x-amz-copy-source'] === undefined) {
      const isInChunks = /\baws-chunked\b/.test(`${headers['content-encoding']}`)
      const sent = arriving(incoming)
      return store({ method, path, headers }, isInChunks ? joinChunks(sent) : sent)
    }
    const body = await readBody(incoming, MAX_XML_BYTES)
    if (body === 'too_large') throw new S3Failure(400, 'MaxMessageLengthExceeded')
    return s3({ method, path, headers, body })
  }
  const explain = (error: NodeJS.ErrnoException): S3Failure => {
    if (error instanceof S3Failure) return error
    if (error.syscall === undefined) return new S3Failure(400, 'InvalidRequest', error.message)
    return new S3Failure(500, 'InternalError', `${error.code} on the machine of the embedded S3.`)
  }
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { origin = '' } = incoming.headers
    // This stand-in adds it, S3 does not: a container's HTML, opened from a link, would run as a page of this server's own,
    // which startStandIn lets in.
    outgoing.setHeader('content-security-policy', 'sandbox')
    if (pages.includes(origin)) outgoing.setHeader('access-control-allow-origin', origin)
    const { status, headers, body } = await handle(incoming).catch((error) => {
      if (incoming.errored) throw error
      return failure(explain(error), `${incoming.method}`)
    })
    // A client that is still sending would lose the answer.
    incoming.unpipe().resume()
    outgoing.writeHead(status, headers)
    if (typeof body === 'string') outgoing.end(body)
    else await pipeline(Readable.from(read(body, join(directory, 'bytes'))), outgoing)
  }
  // A client that breaks off gets no answer; a file that cannot be read breaks off the answer.
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()))
  // A large file may take its time.
  server.requestTimeout = 0
  return startStandIn(server, s3Port, options)
}

async function* read(pieces: readonly Piece[], folder: string): AsyncGenerator<Buffer> {
  for (const { of, from, to } of pieces) {
    if (typeof of !== 'string') yield of.subarray(from, to)
    else if (to > from) yield* createReadStream(join(folder, of), { start: from, end: to - 1 })
  }
}

/** The content of a body that is sent in chunks, each with its size in a line before it ("aws-chunked"). */
export async function* joinChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = ''
  let leftBytes = 0
  for await (let rest of body) {
    while (rest.length > 0) {
      const piece = rest.subarray(0, leftBytes || rest.indexOf('\n') + 1 || rest.length)
      rest = rest.subarray(piece.length)
      if (leftBytes > 0) {
        leftBytes -= piece.length
        yield piece
        continue
      }
      head += piece
      // The line break after a chunk belongs to the next head.
      if (head.trim() === '' || !head.endsWith('\n')) continue
      leftBytes = Number.parseInt(head, 16)
      if (leftBytes === 0) return
      if (!(leftBytes > 0)) throw new S3Failure(400, 'InvalidRequest', 'This is no size of a chunk.')
      head = ''
    }
  }
  throw new S3Failure(400, 'IncompleteBody')
}
