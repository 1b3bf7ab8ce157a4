import { S3Failure } from './s3-answers.ts'

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
