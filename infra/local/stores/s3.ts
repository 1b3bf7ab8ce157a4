import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Access, close, LOOPBACK, listen, refuseForeign } from '../loopback.ts'
import type { StandIn } from './dynamodb.ts'
import { failure, type S3Answer, S3Failure, type S3Request } from './s3-answers.ts'
import { joinChunks, whole } from './s3-bodies.ts'
import { openContents, type Piece } from './s3-contents.ts'
import { createS3, describing } from './s3-operations.ts'
import { postAnswer, readPost } from './s3-post.ts'

/** More than the XML of 10,000 parts. */
const MAX_XML_BYTES = 4 * 1024 * 1024

/** An embedded S3 that keeps its objects in a directory. Requests must be signed; whether correctly is not checked. */
export async function startS3(
  options: Access & {
    directory: string
    /** Omitted: any free one. */
    s3Port?: number | undefined
    /** Called when the file system fails, which is a problem of this machine and no answer of S3. */
    onDiskError?: ((error: NodeJS.ErrnoException) => void) | undefined
  },
): Promise<StandIn> {
  // The origins are known when the gateway listens.
  const { directory, s3Port = 0, pages = [], onDiskError } = options
  const { contents, disk } = openContents(directory)
  const s3 = createS3(contents, disk)

  /** Nothing stays of bytes that come to belong to nothing. */
  const store = async (request: Omit<S3Request, 'body'>, content: AsyncIterable<Buffer>): Promise<S3Answer> => {
    const body = await disk.receive(content)
    let isStored = false
    try {
      const answered = s3({ ...request, body })
      isStored = answered.status === 200
      return answered
    } finally {
      if (!isStored) disk.discard(body.pieces)
    }
  }
  const handle = async (request: Omit<S3Request, 'body'>, sent: AsyncIterable<Buffer>): Promise<S3Answer> => {
    const { method, path, headers } = request
    const [, bucket = '', key = ''] = /^\/([^/?]*)\/?([^?]*)/.exec(path) ?? []
    const contentType = `${headers['content-type']}`
    if (method === 'POST' && key === '' && /^multipart\/form-data/i.test(contentType)) {
      const post = await readPost(sent, contentType, bucket)
      const put = {
        method: 'PUT',
        path: `/${bucket}/${encodeURIComponent(post.key)}`,
        headers: describing(post.fields),
      }
      return postAnswer(post, { bucket, host: `${headers.host}` }, await store(put, post.file))
    }
    requireSignature(request)
    const content = /\baws-chunked\b/.test(`${headers['content-encoding']}`) ? joinChunks(sent) : sent
    const isStoring = method === 'PUT' && key !== '' && headers['x-amz-copy-source'] === undefined
    return isStoring ? store(request, content) : s3({ ...request, body: await whole(content, MAX_XML_BYTES) })
  }
  const answer = async (incoming: IncomingMessage): Promise<S3Answer> => {
    const { method = '', url: path = '', headers } = incoming
    // The end of reading must not close the connection before the answer.
    const sent: AsyncIterableIterator<Buffer> = incoming.iterator({ destroyOnReturn: false })
    try {
      return await handle({ method, path, headers }, sent)
    } catch (error) {
      if (incoming.errored) throw error
      if (error instanceof S3Failure) return failure(error, method)
      onDiskError?.(error as NodeJS.ErrnoException)
      const { code } = error as NodeJS.ErrnoException
      return failure(new S3Failure(500, 'InternalError', `${code} on the machine of the embedded S3.`), method)
    } finally {
      await sent.return?.()
    }
  }
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { origin = '' } = incoming.headers
    if (pages.includes(origin)) {
      outgoing.setHeader('access-control-allow-origin', origin)
      outgoing.setHeader('access-control-allow-methods', 'GET, POST')
      // A browser that is to report the progress of an upload asks first.
      if (incoming.method === 'OPTIONS') return void outgoing.writeHead(204).end()
    }
    const { status, headers, body } = await answer(incoming)
    // A client that is still sending would lose the answer.
    incoming.resume()
    outgoing.writeHead(status, headers)
    if (typeof body === 'string') outgoing.end(body)
    else await pipeline(Readable.from(read(body, join(directory, 'bytes'))), outgoing)
  }
  // A client that breaks off gets no answer; a file that cannot be read breaks off the answer.
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()))
  // A large file may take its time.
  server.requestTimeout = 0
  refuseForeign(server, options)
  const port = await listen(server, s3Port, options)
  return { endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}

async function* read(pieces: readonly Piece[], folder: string): AsyncGenerator<Buffer> {
  for (const { of, from, to } of pieces) {
    if (typeof of !== 'string') yield of.subarray(from, to)
    else if (to > from) yield* createReadStream(join(folder, of), { start: from, end: to - 1 })
  }
}

/** Refuses unsigned requests, such as those of web pages. */
function requireSignature({ path, headers }: Omit<S3Request, 'body'>): void {
  const { searchParams: query } = new URL(path, 'http://s3')
  const isPresigned = query.has('X-Amz-Algorithm')
  if (headers.authorization === undefined && !isPresigned) throw new S3Failure(403, 'AccessDenied')
  if (headers.authorization !== undefined && isPresigned) throw new S3Failure(400, 'InvalidArgument')
  const signedAt = query.get('X-Amz-Date')?.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:') ?? ''
  if (Date.parse(signedAt) + 1000 * Number(query.get('X-Amz-Expires')) < Date.now()) {
    throw new S3Failure(403, 'AccessDenied', 'Request has expired')
  }
}
