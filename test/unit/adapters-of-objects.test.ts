import { describe, expect, it } from 'vitest'
import { isArchived } from '../../lib/aws/container-file.ts'
import { createDocumentObjects } from '../../lib/aws/document-objects.ts'
import { createObjectStore } from '../../lib/aws/object-store.ts'
import { clientOf, refused } from '../support/stores/client-of.ts'

const { signal } = new AbortController()
const MIB = 1024 ** 2
const HEAD = { ContentLength: 1, ETag: '"e"' }

function storeOn(answers: Parameters<typeof clientOf>[0]) {
  const { client, sent, names } = clientOf(answers)
  const buckets = { sandboxBucket: 'sandboxes', documentsBucket: 'documents' }
  const settings = { ...buckets, client, multipartThresholdBytes: 10 * MIB, minPartBytes: 5 * MIB }
  return { store: createObjectStore(settings), documents: createDocumentObjects(settings), sent, names }
}

const listed = async <Item>(items: AsyncIterable<Item>) => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('an object is archived', () => {
  it.each([
    [false, {}],
    [false, { StorageClass: 'STANDARD_IA' }],
    [true, { StorageClass: 'GLACIER' }],
    [true, { StorageClass: 'DEEP_ARCHIVE' }],
    [true, { StorageClass: 'INTELLIGENT_TIERING', ArchiveStatus: 'ARCHIVE_ACCESS' }],
    [true, { StorageClass: 'GLACIER', Restore: 'ongoing-request="true"' }],
    [false, { StorageClass: 'GLACIER', Restore: 'ongoing-request="false", expiry-date="…"' }],
  ])('%s: %j', (expected, head) => {
    expect(isArchived(head as never)).toBe(expected)
  })

  it.each([
    [{ isArchived: false }, () => HEAD],
    [{ isArchived: true }, () => ({ ...HEAD, StorageClass: 'GLACIER' })],
    [undefined, () => refused(404, 'NotFound')],
  ])('and a document’s object is %j', async (expected, head) => {
    const { documents } = storeOn({ HeadObjectCommand: head })
    expect(await documents.findDocumentObject('d', signal)).toEqual(expected)
  })
})

describe('what S3 answers without what it should say', () => {
  it.each([{ ContentLength: 1 }, { ETag: '"e"' }])('is no container file: %j', async (head) => {
    const { store } = storeOn({ HeadObjectCommand: () => head })
    await expect(store.findContainerFile('s', signal)).rejects.toThrow('without a length or an ETag')
  })

  it('is no unfinished upload', async () => {
    const Uploads = [{ Key: 'd' }, { UploadId: 'u' }, { Key: 'd', UploadId: 'u', Initiated: new Date(5) }]
    const { store } = storeOn({ ListMultipartUploadsCommand: () => ({ Uploads }) })
    expect(await listed(store.listUploads('d', signal))).toEqual([{ objectKey: 'd', uploadId: 'u', startedAtMs: 5 }])
  })

  it.each([
    ['nothing of a copy', 1, 'answered a copy with 200 but without an ETag', {}],
    ['a copy without its ETag', 1, 'answered a copy with 200 but without an ETag', { CopyObjectResult: {} }],
    ['an upload without its name', 11 * MIB, 'began an upload but did not name it', {}],
  ])('is 503 for %s, and the log says why', async (_, sizeBytes, message, answer) => {
    const source = { objectKey: 's', etag: '"e"', sizeBytes, isArchived: false, modifiedAt: new Date(0) } as never
    const { store } = storeOn({ CopyObjectCommand: () => answer, CreateMultipartUploadCommand: () => answer })
    const copying = store.copy({ source, targetKey: 'd', mimeType: 'text/plain' }, signal)
    const cause = { message: `S3 ${message}` }
    await expect(copying).rejects.toMatchObject({ reason: 'service_unavailable', cause })
  })
})

describe('discarding an object', () => {
  const ListMultipartUploadsCommand = () => ({ Uploads: [{ Key: 'd', UploadId: 'u' }] })

  it('takes an upload that is gone for aborted', async () => {
    const { store, names } = storeOn({
      ListMultipartUploadsCommand,
      AbortMultipartUploadCommand: () => refused(404, 'NoSuchUpload'),
      DeleteObjectCommand: () => ({}),
    })
    await store.discard('d', signal)
    expect(names()).toEqual(['ListMultipartUploadsCommand', 'AbortMultipartUploadCommand', 'DeleteObjectCommand'])
  })

  it('goes no further when an upload is not aborted: it could be completed later', async () => {
    const { store, names } = storeOn({ ListMultipartUploadsCommand, DeleteObjectCommand: () => ({}) })
    await expect(store.discard('d', signal)).rejects.toMatchObject({ call: 'AbortMultipartUpload' })
    expect(names()).not.toContain('DeleteObjectCommand')
  })
})

it('each call brings its own time limit, and the signal of its request', async () => {
  const { store, sent } = storeOn({
    HeadObjectCommand: () => HEAD,
    DeleteObjectCommand: () => ({}),
    ListMultipartUploadsCommand: () => ({}),
  })
  await store.findContainerFile('s', signal)
  await store.discard('d', signal)
  expect(sent.map(({ options }) => options)).toEqual(sent.map(() => ({ abortSignal: signal, requestTimeout: 3000 })))
})
