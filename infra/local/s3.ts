import { mkdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import S3rver, { type Context, type Store } from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'
import S3Error from '@20minutes/s3rver/lib/models/error.js'
import FilesystemStore from '@20minutes/s3rver/lib/stores/filesystem.js'
import type { StandIn } from './dynamodb.ts'
import { refuseForeign } from './foreign-requests.ts'
import { close, LOOPBACK, listen } from './listen.ts'
import { pagedListings } from './s3-listings.ts'
import { ignoreMissing, joinParts, uploadOperations } from './s3-uploads.ts'

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/**
 * An embedded S3 (s3rver) that keeps its objects in a directory, with what it lacks of the real one: encoded and
 * conditional copy sources, aborting, listing and joining uploads, listings of more than one page, keys with long segments.
 */
export async function startS3(options: {
  directory: string
  credentials: Credentials
  /** Origins whose pages may download: they are known when the gateway listens. */
  pages?: readonly string[] | undefined
  /** Called when the file system fails, which is a problem of this machine and no answer of S3. */
  onTrouble?(error: NodeJS.ErrnoException): void
}): Promise<StandIn> {
  await mkdir(options.directory, { recursive: true })
  account.DUMMY_ACCOUNT.createKeyPair(options.credentials.accessKeyId, options.credentials.secretAccessKey)
  const s3 = new S3rver({
    directory: options.directory,
    silent: true,
    // It does not know the checksum trailers of today's SDK and takes their signatures for wrong.
    allowMismatchedSignatures: true,
    vhostBuckets: false,
  })
  deleteWithoutTidying(s3)
  hideHalfWritten(s3)
  joinParts(s3.store)
  // Before the router, which is last.
  const repairs = [
    tellTrouble(options.onTrouble),
    refuseUnsupported,
    preciseCopySource(s3.store),
    uploadOperations(s3.store),
    pagedListings(s3.store),
  ]
  s3.middleware.splice(-1, 0, ...repairs)
  const server = createServer(s3.callback())
  refuseForeign(server, options.pages)
  const port = await listen(server, 0)
  return { endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}

/** s3rver removes the directories that a deletion left empty, and with them what another request just put there. */
function deleteWithoutTidying({ store }: S3rver): void {
  store.deleteObject = async (bucket, key) => {
    const files = ['object', 'object.md5', 'metadata.json'].map((name) => store.getResourcePath(bucket, key, name))
    await Promise.all(files.map((file) => rm(file, { force: true })))
  }
}

/** A killed process leaves half-written files, where S3 would have written nothing. */
function hideHalfWritten({ store }: S3rver): void {
  const { getMetadata } = store
  store.getMetadata = async (bucket, key) => {
    try {
      return await getMetadata.call(store, bucket, key)
    } catch (error) {
      if (error instanceof SyntaxError)
        throw Object.assign(new Error('half written', { cause: error }), { code: 'ENOENT' })
      throw error
    }
  }
}

/** s3rver calls any failure an internal error. The file system's own message is kept. */
function tellTrouble(onTrouble?: (error: NodeJS.ErrnoException) => void) {
  return async (_ctx: Context, next: () => Promise<void>) => {
    try {
      await next()
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (!/^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EMFILE|ENFILE|EIO)$/.test(code)) throw error
      onTrouble?.(error as NodeJS.ErrnoException)
      throw new S3Error('InternalError', `${code} on the machine of the embedded S3.`)
    }
  }
}

/** s3rver lets in who does not sign (which a preflight cannot do), and would answer the questions with a listing. */
async function refuseUnsupported(ctx: Context, next: () => Promise<void>): Promise<void> {
  const isSigned = ctx.headers.authorization !== undefined || 'X-Amz-Algorithm' in ctx.query
  if (!isSigned && ctx.method !== 'OPTIONS') throw new S3Error('AccessDenied', 'Access Denied')
  for (const question of ['versioning', 'policy', 'ownershipControls']) {
    if (question in ctx.query) throw new S3Error('NotImplemented', `There is no ${question} here.`)
  }
  return next()
}

/** s3rver decodes the copy source by other rules than S3 and does not compare its ETag. */
function preciseCopySource(store: Store) {
  return async (ctx: Context, next: () => Promise<void>) => {
    const source = ctx.headers['x-amz-copy-source']
    if (source === undefined) return next()
    const decoded = decodeURIComponent(source.replace(/^\//, ''))
    ctx.headers['x-amz-copy-source'] = encodeURI(decoded)
    const wanted = ctx.headers['x-amz-copy-source-if-match']
    const [bucket = '', ...key] = decoded.split('/')
    if (wanted !== undefined) {
      const existing = await store.getMetadata(bucket, key.join('/')).catch(ignoreMissing)
      if (existing !== undefined && existing.etag !== wanted) {
        const message = 'At least one of the pre-conditions you specified did not hold'
        throw new S3Error('PreconditionFailed', message, { Condition: 'x-amz-copy-source-If-Match' })
      }
    }
    return next()
  }
}

// A segment of a key may be 1,024 bytes long, a file name only 255, s3rver's suffix included: long ones are cut into
// nested directories, whose names end in a character that marks the cut.
const CUT = '\u0001/'
const NAME_PIECES = /.{1,50}/gsu
FilesystemStore.encodeKeyPath = (key) =>
  key
    .split('/')
    .map((segment) => (segment.match(NAME_PIECES) ?? ['']).join(CUT))
    .join('/')
FilesystemStore.decodeKeyPath = (path) => path.replaceAll(CUT, '')
