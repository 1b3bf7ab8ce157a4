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

describe('a container file', () => {
  const source = { objectKey: 's/a*b', etag: '"e"', sizeBytes: 1, isArchived: false, modifiedAt: new Date(0) } as never
  const copyOf = { source, targetKey: 'd', mimeType: 'text/plain' }

  it('that may not be read fails with the refusal, not with that of the offer to pay', async () => {
    const refusals = [refused(403, 'First'), refused(403, 'Second')]
    const ListObjectsV2Command = () => ({ Contents: [{ Key: 's' }] })
    const { store } = storeOn({ HeadObjectCommand: () => refusals.shift(), ListObjectsV2Command })
    await expect(store.findContainerFile('s', signal)).rejects.toMatchObject({ name: 'First' })
    expect(refusals).toEqual([])
  })

  it('is named in upper-case percent encoding', async () => {
    const { store, sent } = storeOn({ CopyObjectCommand: () => ({ CopyObjectResult: { ETag: '"e"' } }) })
    await store.copy(copyOf, signal)
    expect(sent[0]?.input.CopySource).toBe('sandboxes/s/a%2Ab')
  })

  it.each(['InvalidObjectState', 'ObjectNotInActiveTierError'])('that was archived meanwhile is: %s', async (name) => {
    const { store } = storeOn({ CopyObjectCommand: () => refused(403, name) })
    await expect(store.copy(copyOf, signal)).rejects.toMatchObject({ reason: 'container_file_archived' })
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

  it('leaves uploads alone whose keys only begin like its own', async () => {
    const Uploads = ['d', 'd2'].map((Key) => ({ Key, UploadId: `of ${Key}` }))
    const { store, sent } = storeOn({
      ListMultipartUploadsCommand: () => ({ Uploads }),
      AbortMultipartUploadCommand: () => ({}),
      DeleteObjectCommand: () => ({}),
    })
    await store.discard('d', signal)
    const aborted = sent.filter(({ name }) => name === 'AbortMultipartUploadCommand')
    expect(aborted.map(({ input }) => input.UploadId)).toEqual(['of d'])
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
