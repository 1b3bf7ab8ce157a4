import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Context, Store } from '@20minutes/s3rver'
import S3Error from '@20minutes/s3rver/lib/models/error.js'

const CHUNK_BYTES = 1024 ** 2

/** What s3rver lacks of multipart uploads: listing and aborting them, unknown ids, the size a completion demands. */
export function uploadOperations(store: Store) {
  return async (ctx: Context, next: () => Promise<void>) => {
    const [, bucket = '', ...key] = ctx.path.split('/').map(decodeURIComponent)
    const uploadsDirectory = store.getResourcePath(bucket, undefined, 'uploads')
    if (ctx.method === 'GET' && 'uploads' in ctx.query && key.join('/') === '') {
      ctx.body = await listUploads(uploadsDirectory, bucket, ctx.query)
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

/** s3rver reads and hashes all parts once more to join them. S3's ETag of such an object is a hash of the parts' hashes. */
export function joinParts(store: Store): void {
  store.putObjectMultipart = async (bucket, uploadId, parts) => {
    const directory = join(store.getResourcePath(bucket, undefined, 'uploads'), uploadId)
    const numbers = parts.map(({ number }) => number).sort((a, b) => a - b)
    const files = numbers.map((number) => join(directory, String(number)))
    if (!files.every((file) => existsSync(`${file}.md5`))) {
      throw new S3Error('InvalidPart', 'One or more of the specified parts could not be found.')
    }
    const hash = createHash('md5')
    for (const file of files) hash.update(Buffer.from(await readFile(`${file}.md5`, 'utf8'), 'hex'))
    const md5 = `${hash.digest('hex')}-${files.length}`
    const key = await readFile(join(directory, 'key'), 'utf8')
    const metadata = JSON.parse(await readFile(join(directory, 'metadata'), 'utf8'))
    // The parts stay until the object is there: the same completion may arrive again.
    const whole = join(directory, `whole-${randomUUID()}`)
    await concatenate(files, whole)
    const size = (await stat(whole)).size
    const objectFile = store.getResourcePath(bucket, key, 'object')
    await mkdir(dirname(objectFile), { recursive: true })
    await rename(whole, objectFile)
    await store.putMetadata(bucket, key, metadata, md5)
    await rm(directory, { recursive: true, force: true })
    return { size, md5 }
  }
}

/** Through one buffer: a stream would allocate as many bytes as it moves. */
async function concatenate(sources: readonly string[], target: string): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  await using to = await open(target, 'w')
  for (const source of sources) {
    await using from = await open(source)
    while (true) {
      const { bytesRead } = await from.read(buffer)
      if (bytesRead === 0) break
      await to.write(buffer, 0, bytesRead)
    }
  }
}

async function listUploads(
  uploadsDirectory: string,
  bucket: string,
  { prefix = '', 'key-marker': afterKey = '' }: Record<string, string | undefined>,
) {
  const uploadIds = (await readdir(uploadsDirectory).catch(ignoreMissing)) ?? []
  const uploads = await Promise.all(
    uploadIds.map(async (UploadId) => {
      const file = join(uploadsDirectory, UploadId, 'key')
      const Key = await readFile(file, 'utf8').catch(ignoreMissing)
      const started = await stat(file).catch(ignoreMissing)
      return Key?.startsWith(prefix) && compareBytes(Key, afterKey) > 0 && started
        ? [{ Key, UploadId, Initiated: started.mtime.toISOString() }]
        : []
    }),
  )
  const Upload = uploads.flat().toSorted((one, other) => compareBytes(one.Key, other.Key))
  return { ListMultipartUploadsResult: { Bucket: bucket, IsTruncated: false, Upload } }
}

async function partBytes(uploadDirectory: string): Promise<number> {
  const parts = (await readdir(uploadDirectory)).filter((name) => /^\d+$/.test(name))
  const sizes = await Promise.all(parts.map(async (name) => (await stat(join(uploadDirectory, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
