import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import S3rver, { type Context } from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'
import S3Error from '@20minutes/s3rver/lib/models/error.js'
import FilesystemStore from '@20minutes/s3rver/lib/stores/filesystem.js'
import type { StandIn } from './dynamodb.ts'
import { close, LOOPBACK, listen } from './listen.ts'

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/**
 * An embedded S3 (s3rver) that keeps its objects in a directory, with what it lacks of the real one: encoded and
 * conditional copy sources, aborting and listing uploads, listings of more than one page, keys with long segments.
 */
export async function startS3(options: { directory: string; credentials: Credentials }): Promise<StandIn> {
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
  // Before its router, which is the last.
  s3.middleware.splice(-1, 0, preciseCopySource(s3.store), uploadOperations(s3.store), pagedListings(s3.store))
  const server = createServer(s3.callback())
  const port = await listen(server, 0)
  return { endpoint: `http://${LOOPBACK}:${port}`, stop: () => close(server) }
}

type Store = S3rver['store']

/** s3rver removes the directories that a deletion left empty, and with them what another request just put there. */
function deleteWithoutTidying({ store }: S3rver): void {
  store.deleteObject = async (bucket, key) => {
    const files = ['object', 'object.md5', 'metadata.json'].map((name) => store.getResourcePath(bucket, key, name))
    await Promise.all(files.map((file) => rm(file, { force: true })))
  }
}

/** A process that is killed leaves files half written, where S3 would have written nothing. */
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

function uploadOperations(store: Store) {
  return async (ctx: Context, next: () => Promise<void>) => {
    const [, bucket = '', ...key] = ctx.path.split('/').map(decodeURIComponent)
    const uploadsDirectory = store.getResourcePath(bucket, undefined, 'uploads')
    if (ctx.method === 'GET' && 'uploads' in ctx.query && key.join('/') === '') {
      ctx.body = await listUploads(uploadsDirectory, bucket, ctx.query.prefix ?? '')
      return
    }
    const { uploadId } = ctx.query
    if (uploadId === undefined) return next()
    const directory = join(uploadsDirectory, uploadId)
    if (!/^[0-9a-f]{32}$/.test(uploadId) || !existsSync(join(directory, 'key'))) {
      throw new S3Error('NoSuchUpload', 'The specified multipart upload does not exist.', { UploadId: uploadId })
    }
    if (ctx.method === 'DELETE') {
      await rm(directory, { recursive: true, force: true })
      ctx.status = 204
      return
    }
    const wantedSize = ctx.headers['x-amz-mp-object-size']
    if (ctx.method === 'POST' && wantedSize !== undefined && Number(wantedSize) !== (await partBytes(directory))) {
      throw new S3Error('InvalidRequest', 'The provided x-amz-mp-object-size does not match the sum of the parts.')
    }
    return next()
  }
}

/** s3rver encrypts its continuation tokens with DES, which today's Node.js does not have: ours is the last key. */
function pagedListings(store: Store) {
  const listings = new AsyncLocalStorage<{ isTruncated: boolean }>()
  const { listObjects } = store
  store.listObjects = async (bucket, options) => {
    const result = await listObjects.call(store, bucket, options)
    const listing = listings.getStore()
    if (listing === undefined) return result
    listing.isTruncated = result.isTruncated
    // So that it makes no token.
    return { ...result, isTruncated: false }
  }
  return async (ctx: Context, next: () => Promise<void>) => {
    if (ctx.method !== 'GET' || ctx.query['list-type'] !== '2') return next()
    const { 'continuation-token': token, ...query } = ctx.query
    if (token) ctx.query = { ...query, 'start-after': Buffer.from(token, 'base64url').toString() }
    const listing = { isTruncated: false }
    await listings.run(listing, next)
    if (!listing.isTruncated) return
    const { ListBucketResult } = ctx.body as { ListBucketResult: { Contents: { Key: string }[] } }
    const lastKey = ListBucketResult.Contents.at(-1)?.Key ?? ''
    const NextContinuationToken = Buffer.from(lastKey).toString('base64url')
    ctx.body = { ListBucketResult: { ...ListBucketResult, IsTruncated: true, NextContinuationToken } }
  }
}

async function listUploads(uploadsDirectory: string, bucket: string, prefix: string) {
  const uploadIds = (await readdir(uploadsDirectory).catch(ignoreMissing)) ?? []
  const uploads = await Promise.all(
    uploadIds.map(async (UploadId) => {
      const file = join(uploadsDirectory, UploadId, 'key')
      const Key = await readFile(file, 'utf8').catch(ignoreMissing)
      const started = await stat(file).catch(ignoreMissing)
      return Key?.startsWith(prefix) && started ? [{ Key, UploadId, Initiated: started.mtime.toISOString() }] : []
    }),
  )
  return { ListMultipartUploadsResult: { Bucket: bucket, IsTruncated: false, Upload: uploads.flat() } }
}

async function partBytes(uploadDirectory: string): Promise<number> {
  const parts = (await readdir(uploadDirectory)).filter((name) => /^\d+$/.test(name))
  const sizes = await Promise.all(parts.map(async (name) => (await stat(join(uploadDirectory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
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
