import type { Piece, S3Contents } from '../../../infra/local/stores/s3-contents.ts'
import { createS3 } from '../../../infra/local/stores/s3-operations.ts'
import type { Store, WireAnswer } from './store.ts'

/** The embedded S3 of npm start, without its directory: in memory. */
export function createMemoryS3() {
  const contents: S3Contents = { buckets: new Map(), versions: new Map(), uploads: new Map() }
  const s3 = createS3(contents)
  const store: Store = async (request) => onWire(s3(request))
  return {
    store,
    snapshot: () => copyOf(contents),
    restore: (snapshot: S3Contents) => void Object.assign(contents, copyOf(snapshot)),
  }
}

/** An answer of the embedded S3, with its bytes. */
export function onWire({ status, headers, body }: ReturnType<ReturnType<typeof createS3>>): WireAnswer {
  return { status, headers, body: typeof body === 'string' ? body : Buffer.concat(body.map(bytesOf)) }
}

const bytesOf = ({ of, from, to }: Piece) => (of as Buffer).subarray(from, to)

/** Objects are replaced and never changed, so that copies may share them. */
function copyOf({ buckets, versions, uploads }: S3Contents): S3Contents {
  const copied = (all: S3Contents['buckets']) => new Map([...all].map(([name, objects]) => [name, new Map(objects)]))
  return {
    buckets: copied(buckets),
    versions: copied(versions),
    uploads: new Map([...uploads].map(([id, upload]) => [id, { ...upload, parts: new Map(upload.parts) }])),
  }
}
