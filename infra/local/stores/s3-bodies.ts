import { S3Failure } from './s3-answers.ts'

const MAX_HEAD_LENGTH = 1024

/** The content of a body that is sent in chunks, each with its size in a line before it ("aws-chunked"). */
export async function* joinChunks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = ''
  let leftBytes = 0
  for await (let rest of body) {
    while (rest.length > 0) {
      const end = leftBytes || rest.indexOf('\n') + 1 || rest.length
      const piece = rest.subarray(0, end)
      rest = rest.subarray(end)
      if (leftBytes > 0) {
        leftBytes -= piece.length
        yield piece
        continue
      }
      head += piece.toString('latin1')
      // The line break after a chunk belongs to the next head.
      const isWhole = head.endsWith('\n') && head.trim() !== ''
      if (!isWhole && head.length < MAX_HEAD_LENGTH) continue
      leftBytes = isWhole ? Number.parseInt(head, 16) : Number.NaN
      if (leftBytes === 0) return
      if (!(leftBytes > 0)) throw new S3Failure(400, 'IncompleteBody')
      head = ''
    }
  }
  throw new S3Failure(400, 'IncompleteBody')
}
