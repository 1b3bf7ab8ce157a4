import { S3Failure } from './s3-answers.ts'

/** Reads a body piece by piece, and never holds more of it than has just arrived. */
export function readInPieces(body: AsyncIterable<Buffer>) {
  const arriving = body[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const more = async () => {
    const { value, done } = await arriving.next()
    if (done) throw new S3Failure(400, 'IncompleteBody')
    held = Buffer.concat([held, value])
  }

  async function* bytes(sizeBytes: number): AsyncGenerator<Buffer> {
    for (let left = sizeBytes; left > 0; ) {
      if (held.length === 0) await more()
      const piece = held.subarray(0, left)
      held = held.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }

  /** All before a delimiter, which is passed over. */
  async function* until(delimiter: string): AsyncGenerator<Buffer> {
    for (;;) {
      const at = held.indexOf(delimiter)
      // The last bytes may be the beginning of the delimiter.
      const end = at < 0 ? Math.max(0, held.length - delimiter.length + 1) : at
      const piece = held.subarray(0, end)
      held = held.subarray(at < 0 ? end : end + delimiter.length)
      if (piece.length > 0) yield piece
      if (at >= 0) return
      await more()
    }
  }

  return {
    bytes,
    until,
    /** @throws S3Failure when it is longer than it may be */
    async text(delimiter: string, maxBytes: number): Promise<string> {
      return (await whole(until(delimiter), maxBytes)).toString()
    },
  }
}

/** What should be short, in memory. @throws S3Failure when it is not */
export async function whole(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let left = maxBytes
  for await (const chunk of body) {
    left -= chunk.length
    if (left < 0) throw new S3Failure(400, 'MaxMessageLengthExceeded')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The content of a body that is sent in chunks, each with its size before it ("aws-chunked"). */
export async function* joinChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const sent = readInPieces(body)
  for (;;) {
    const sizeBytes = Number.parseInt(await sent.text('\r\n', 1024), 16)
    if (sizeBytes === 0) return
    if (!(sizeBytes > 0)) throw new S3Failure(400, 'IncompleteBody')
    yield* sent.bytes(sizeBytes)
    await sent.text('\r\n', 0)
  }
}
