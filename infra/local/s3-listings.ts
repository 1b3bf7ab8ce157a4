import { AsyncLocalStorage } from 'node:async_hooks'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Context, ListOptions, Store } from '@20minutes/s3rver'
import S3Object from '@20minutes/s3rver/lib/models/object.js'
import FilesystemStore from '@20minutes/s3rver/lib/stores/filesystem.js'
import { ignoreMissing } from './s3-uploads.ts'

const OBJECT_SUFFIX = '._S3rver_object'

/**
 * Listings of more than one page, by the order of S3, encoded when asked for. s3rver encrypts its continuation tokens with
 * DES, which today's Node.js does not have: ours is the last key. And it orders keys by UTF-16, half of the time.
 */
export function pagedListings(store: Store) {
  const listings = new AsyncLocalStorage<{ isTruncated: boolean }>()
  const { listObjects } = store
  store.listObjects = async (bucket, options) => {
    const result = options.delimiter
      ? await listObjects.call(store, bucket, options)
      : await listInOrder(store, bucket, options)
    const listing = listings.getStore()
    if (listing === undefined) return result
    listing.isTruncated = result.isTruncated
    // So that s3rver makes no token.
    return { ...result, isTruncated: false }
  }
  return async (ctx: Context, next: () => Promise<void>) => {
    if (ctx.method !== 'GET' || ctx.query['list-type'] !== '2') return next()
    const { 'continuation-token': token, ...query } = ctx.query
    if (token) ctx.query = { ...query, 'start-after': Buffer.from(token, 'base64url').toString() }
    const listing = { isTruncated: false }
    await listings.run(listing, next)
    const { ListBucketResult: page } = ctx.body as { ListBucketResult: { Contents: { Key: string }[] } }
    const lastKey = page.Contents.at(-1)?.Key ?? ''
    const NextContinuationToken = Buffer.from(lastKey).toString('base64url')
    const isEncoded = ctx.query['encoding-type'] === 'url'
    ctx.body = {
      ListBucketResult: {
        ...page,
        ...(listing.isTruncated && { IsTruncated: true, NextContinuationToken }),
        ...(isEncoded && { EncodingType: 'url', Contents: page.Contents.map(withEncodedKey) }),
      },
    }
  }
}

async function listInOrder(store: Store, bucket: string, { prefix = '', startAfter = '', maxKeys }: ListOptions) {
  const bucketFolder = join(store.rootDirectory, bucket)
  const folder = join(bucketFolder, FilesystemStore.encodeKeyPath(prefix.slice(0, prefix.lastIndexOf('/') + 1)))
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing)) ?? []
  const keys = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(OBJECT_SUFFIX))
    .map((entry) => `${relative(bucketFolder, entry.parentPath)}/${entry.name}`.replace(/^\//, ''))
    .map((path) => FilesystemStore.decodeKeyPath(path.slice(0, -OBJECT_SUFFIX.length)))
    .filter((key) => key.startsWith(prefix) && compareBytes(key, startAfter) > 0)
    .toSorted(compareBytes)
  const page = keys.slice(0, maxKeys)
  // Objects deleted in between are left out.
  const objects = await Promise.all(
    page.map(async (key) => {
      const metadata = await store.getMetadata(bucket, key).catch(ignoreMissing)
      return metadata === undefined ? [] : [new S3Object(bucket, key, null, metadata)]
    }),
  )
  return { objects: objects.flat(), commonPrefixes: [], isTruncated: keys.length > page.length }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Form encoding, except for the slash. */
function withEncodedKey<Listed extends { Key: string }>(object: Listed): Listed {
  const encoded = encodeURIComponent(object.Key).replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return { ...object, Key: encoded.replaceAll('%2F', '/').replaceAll('%20', '+') }
}
