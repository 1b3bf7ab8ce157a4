import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { close, LOOPBACK, listen, refuseForeign } from '../loopback.ts'
import type { StandIn } from './dynamodb.ts'
import { failure, type S3Answer, S3Failure, type S3Request } from './s3-answers.ts'
import { openContents, type Piece } from './s3-contents.ts'
import { createS3 } from './s3-operations.ts'

/** An embedded S3 that keeps its objects in a directory. Requests must be signed; whether correctly is not checked. */
export async function startS3(options: {
  directory: string
  /** Omitted: any free one. */
  s3Port?: number | undefined
  /** Origins whose pages may download: they are known when the gateway listens. */
  pages?: readonly string[] | undefined
  /** Called when the file system fails, which is a problem of this machine and no answer of S3. */
  onDiskError?: ((error: NodeJS.ErrnoException) => void) | undefined
}): Promise<StandIn> {
  const { directory, s3Port = 0, pages = [], onDiskError } = options
  const { contents, disk } = openContents(directory)
  const s3 = createS3(contents, disk)

  const answer = (request: S3Request): S3Answer => {
    try {
      requireSignature(request)
      return s3(request)
    } catch (error) {
      if (error instanceof S3Failure) return failure(error, request.method)
      onDiskError?.(error as NodeJS.ErrnoException)
      const { code } = error as NodeJS.ErrnoException
      return failure(new S3Failure(500, 'InternalError', `${code} on the machine of the embedded S3.`), request.method)
    }
  }
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming
    const { origin = '' } = headers
    if (pages.includes(origin)) outgoing.setHeader('access-control-allow-origin', origin)
    const sent = await buffer(incoming)
    const body = headers['content-encoding'] === 'aws-chunked' ? joinChunks(sent) : sent
    const { status, headers: described, body: bytes } = answer({ method, path, headers, body })
    outgoing.writeHead(status, described)
    if (typeof bytes === 'string') outgoing.end(bytes)
    else await pipeline(Readable.from(read(bytes, join(directory, 'bytes'))), outgoing)
  }
  // A client that breaks off gets no answer; a file that cannot be read breaks off the answer.
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()))
  refuseForeign(server, pages)
  const port = await listen(server, s3Port)
  return { endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}

async function* read(pieces: readonly Piece[], folder: string): AsyncGenerator<Buffer> {
  for (const { of, from, to } of pieces) {
    if (typeof of !== 'string') yield of.subarray(from, to)
    else if (to > from) yield* createReadStream(join(folder, of), { start: from, end: to - 1 })
  }
}

/** Refuses unsigned requests, such as those of web pages. */
function requireSignature({ path, headers }: S3Request): void {
  const { searchParams: query } = new URL(path, 'http://s3')
  const isPresigned = query.has('X-Amz-Algorithm')
  if (headers.authorization === undefined && !isPresigned) throw new S3Failure(403, 'AccessDenied')
  if (headers.authorization !== undefined && isPresigned) throw new S3Failure(400, 'InvalidArgument')
  const signedAt = query.get('X-Amz-Date')?.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:') ?? ''
  if (Date.parse(signedAt) + 1000 * Number(query.get('X-Amz-Expires')) < Date.now()) {
    throw new S3Failure(403, 'AccessDenied', 'Request has expired')
  }
}

/** The content of a body that was sent in chunks, each with its size before it ("aws-chunked"). */
function joinChunks(sent: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const start = sent.indexOf('\r\n', at) + 2
    const sizeBytes = Number.parseInt(sent.toString('latin1', at, start), 16)
    if (!(sizeBytes > 0)) return Buffer.concat(chunks)
    chunks.push(sent.subarray(start, start + sizeBytes))
    at = start + sizeBytes + 2
  }
}
