import { describe, expect, it, vi } from 'vitest'
import { isArchived } from '../../../lib/aws/s3/container-file.ts'
import { refused, storesOn } from '../../support/stores/client-of.ts'
import { COPY_SETTINGS } from '../../support/stores/memory-objects.ts'

const { signal } = new AbortController()
const MIB = 1024 ** 2
const HEAD = { ContentLength: 1, ETag: '"e"' }

function copyOf(sizeBytes: number, objectKey = 's') {
  const source = { objectKey, etag: '"e"', sizeBytes, isArchived: false, modifiedAt: new Date(0) } as never
  return { source, objectKey: 'd', mimeType: 'text/plain' }
}

const PARTS = {
  CreateMultipartUploadCommand: () => ({ UploadId: 'u' }),
  UploadPartCopyCommand: () => ({ CopyPartResult: { ETag: '"p"' } }),
  CompleteMultipartUploadCommand: () => ({ ETag: '"e-2"' }),
  HeadObjectCommand: () => HEAD,
}

it.each([
  [false, {}],
  [false, { StorageClass: 'STANDARD_IA' }],
  [true, { StorageClass: 'GLACIER' }],
  [true, { StorageClass: 'DEEP_ARCHIVE' }],
  [true, { StorageClass: 'INTELLIGENT_TIERING', ArchiveStatus: 'ARCHIVE_ACCESS' }],
  [true, { StorageClass: 'GLACIER', Restore: 'ongoing-request="true"' }],
  [false, { StorageClass: 'GLACIER', Restore: 'ongoing-request="false", expiry-date="…"' }],
])('an object is archived %s: %j', (expected, head) => {
  expect(isArchived(head as never)).toBe(expected)
})

describe('what S3 answers without what it should say', () => {
  it.each([{ ContentLength: 1 }, { ETag: '"e"' }])('is no container file: %j', async (head) => {
    const { objects } = storesOn({ HeadObjectCommand: () => head })
    await expect(objects.findContainerFile('s', signal)).rejects.toThrow('without a length or an ETag')
  })

  it.each(['e', '"e"', 'W/"e"'])('has an ETag of one form, looked up or listed: %s', async (ETag) => {
    const { containerFiles: files } = storesOn({
      HeadObjectCommand: () => ({ ContentLength: 1, ETag }),
      ListObjectsV2Command: () => ({ Contents: [{ Key: 's', Size: 1, ETag }] }),
    })
    const query = { keyPrefix: '', afterKey: undefined, firstPage: 1 }
    const [page] = await Array.fromAsync(files.listContainerFiles(query, signal))
    const found = await files.findContainerFile('s', signal)
    expect([found?.etag, page?.files[0]?.etag]).toEqual(['"e"', '"e"'])
  })

  it('is no unfinished upload', async () => {
    const Uploads = [{ Key: 'd' }, { UploadId: 'u' }, { Key: 'd', UploadId: 'u' }]
    const { objects } = storesOn({ ListMultipartUploadsCommand: () => ({ Uploads }) })
    expect(await Array.fromAsync(objects.listUploads('d', signal))).toEqual([{ objectKey: 'd', uploadId: 'u' }])
  })

  it.each([
    ['a copy without its ETag', 1, 'answered a copy with 200 but without an ETag', { CopyObjectResult: {} }],
    ['an upload without its name', 11 * MIB, 'began an upload but did not name it', {}],
  ])('is 503 for %s, and the log says why', async (_, sizeBytes, message, answer) => {
    const { objects } = storesOn({ CopyObjectCommand: () => answer, CreateMultipartUploadCommand: () => answer })
    const copying = objects.copy(copyOf(sizeBytes), signal)
    const cause = { message: `S3 ${message}` }
    await expect(copying).rejects.toMatchObject({ reason: 'service_unavailable', cause })
  })
})

describe('a container file', () => {
  it('that may not be read fails with the refusal', async () => {
    const Contents = [{ Key: 's' }]
    const answers = { HeadObjectCommand: () => refused(403), ListObjectsV2Command: () => ({ Contents }) }
    const onRefusedMissingKey = vi.fn()
    const { objects } = storesOn(answers, { onRefusedMissingKey })
    await expect(objects.findContainerFile('s', signal)).rejects.toMatchObject({ name: 'AccessDeniedException' })
    expect(onRefusedMissingKey).not.toHaveBeenCalled()
  })

  it.each([
    ['no key that begins with its own', []],
    ['only another key that begins with its own', [{ Key: 's.csv' }]],
  ])('is missing where S3 refuses to say so, and lists %s', async (_, Contents) => {
    const answers = { HeadObjectCommand: () => refused(403), ListObjectsV2Command: () => ({ Contents }) }
    const onRefusedMissingKey = vi.fn()
    const { objects, sent } = storesOn(answers, { onRefusedMissingKey })
    expect(await objects.findContainerFile('s', signal)).toBeUndefined()
    expect(sent[1]?.input).toEqual({ Bucket: 'sandboxes', Prefix: 's', MaxKeys: 1 })
    expect(onRefusedMissingKey).toHaveBeenCalledTimes(1)
  })

  it('is named in upper-case percent encoding', async () => {
    const { objects, sent } = storesOn({ CopyObjectCommand: () => ({ CopyObjectResult: { ETag: '"e"' } }) })
    await objects.copy(copyOf(1, 's/a*b'), signal)
    expect(sent[0]?.input.CopySource).toBe('sandboxes/s/a%2Ab')
  })

  it.each([
    ['ObjectNotInActiveTierError', 'container_file_archived'],
    ['NoSuchVersion', 'container_file_changed'],
    ['NoSuchUpload', 'request_timed_out'],
  ])('whose copy is answered with %s meanwhile is refused as %s', async (name, reason) => {
    const { objects } = storesOn({ CopyObjectCommand: () => refused(404, name), HeadObjectCommand: () => refused(404) })
    await expect(objects.copy(copyOf(1), signal)).rejects.toMatchObject({ reason, cause: { name } })
  })
})

describe('a file in a versioned bucket', () => {
  const VersionId = 'v+1'
  const versioned = { HeadObjectCommand: () => ({ ...HEAD, ContentLength: 11 * MIB, VersionId }) }

  it('is copied and read by its version', async () => {
    const { objects, sent } = storesOn({ ...PARTS, ...versioned, GetObjectCommand: () => ({}) })
    const source = await objects.findContainerFile('s', signal)
    if (source === undefined) throw new Error('it was not found')
    await objects.copy({ ...copyOf(0), source }, signal)
    await objects.readStart(source, 10, signal)
    const inputs = (command: string) => sent.flatMap(({ name, input }) => (name === command ? [input] : []))
    const CopySource = 'sandboxes/s?versionId=v%2B1'
    expect(inputs('UploadPartCopyCommand')).toMatchObject([{ CopySource }, { CopySource }])
    expect(inputs('GetObjectCommand')).toMatchObject([{ VersionId }])
    await objects.copy({ ...copyOf(0), source: { ...source, sizeBytes: 1 } }, signal).catch(() => {})
    expect(inputs('CopyObjectCommand')).toMatchObject([{ CopySource }])
  })

  it('is looked up without one that an object gets while the bucket is not versioned', async () => {
    const { objects } = storesOn({ HeadObjectCommand: () => ({ ...HEAD, VersionId: 'null' }) })
    expect(await objects.findContainerFile('s', signal)).toMatchObject({ versionId: undefined })
  })
})

it.each([
  [true, 10 * MIB],
  [false, 10 * MIB + 1],
])('the SHA-256 of a copy can be told: %s for %i bytes', (expected, sizeBytes) => {
  expect(storesOn({}).objects.copiesWhole(sizeBytes)).toBe(expected)
})

describe('a copy in parts', () => {
  it('gives equal parts equal time', async () => {
    const { objects, sent } = storesOn(PARTS)
    await objects.copy(copyOf(11 * MIB), signal)
    const parts = sent.filter(({ name }) => name === 'UploadPartCopyCommand')
    const limits = parts.map(({ options }) => (options as { requestTimeout: number }).requestTimeout)
    expect(limits).toEqual([limits[0], limits[0]])
  })

  const ITS_CALLS = ['CreateMultipartUpload', 'UploadPartCopy', 'CompleteMultipartUpload']
  it.each(ITS_CALLS)('says that %s was refused, and looks for no object', async (call) => {
    const { objects, names } = storesOn({ ...PARTS, [`${call}Command`]: () => refused(403) })
    await expect(objects.copy(copyOf(11 * MIB), signal)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      call,
    })
    expect(names()).not.toContain('HeadObjectCommand')
  })
})

it.each([
  ['url', 'a b%'],
  [undefined, 'a+b%25'],
])('a listing decodes keys only when S3 has encoded them: %s', async (EncodingType, objectKey) => {
  const Contents = [{ Key: 'a+b%25' }]
  const { containerFiles } = storesOn({ ListObjectsV2Command: () => ({ EncodingType, Contents }) })
  const query = { keyPrefix: 'a', afterKey: undefined, firstPage: 5 }
  const all = await Array.fromAsync(containerFiles.listContainerFiles(query, signal))
  expect(all.flatMap(({ files }) => files).map((file) => file.objectKey)).toEqual([objectKey])
})

describe('discarding an object', () => {
  const Uploads = ['d', 'd2'].map((Key) => ({ Key, UploadId: `of ${Key}` }))
  const ListMultipartUploadsCommand = () => ({ Uploads })

  it('takes an upload that is gone for aborted', async () => {
    const { objects, names, sent } = storesOn({
      ListMultipartUploadsCommand,
      AbortMultipartUploadCommand: () => refused(404, 'NoSuchUpload'),
      DeleteObjectCommand: () => ({}),
    })
    await objects.discard({ objectKey: 'd' }, signal)
    // Once: the other upload is of a key that only begins like this one.
    expect(names()).toEqual(['ListMultipartUploadsCommand', 'AbortMultipartUploadCommand', 'DeleteObjectCommand'])
    expect(sent[1]?.input.UploadId).toBe('of d')
  })

  it('looks for uploads of a document only if it was copied in parts', async () => {
    const { objects, names } = storesOn({ ListMultipartUploadsCommand: () => ({}), DeleteObjectCommand: () => ({}) })
    const { multipartThresholdBytes } = COPY_SETTINGS
    await objects.discard({ objectKey: 'd', sizeBytes: multipartThresholdBytes }, signal)
    expect(names()).toEqual(['DeleteObjectCommand'])
    await objects.discard({ objectKey: 'd', sizeBytes: 2 * multipartThresholdBytes }, signal)
    expect(names().slice(1)).toEqual(['ListMultipartUploadsCommand', 'DeleteObjectCommand'])
  })

  it('goes no further when an upload is not aborted: it could be completed later', async () => {
    const { objects, names } = storesOn({ ListMultipartUploadsCommand, DeleteObjectCommand: () => ({}) })
    await expect(objects.discard({ objectKey: 'd' }, signal)).rejects.toMatchObject({ call: 'AbortMultipartUpload' })
    expect(names()).not.toContain('DeleteObjectCommand')
  })
})

it('each call brings its own time limit, and the signal of its request', async () => {
  const { objects, sent } = storesOn({
    HeadObjectCommand: () => HEAD,
    DeleteObjectCommand: () => ({}),
    ListMultipartUploadsCommand: () => ({}),
  })
  await objects.findContainerFile('s', signal)
  await objects.discard({ objectKey: 'd' }, signal)
  expect(sent.map(({ options }) => options)).toEqual(sent.map(() => ({ abortSignal: signal, requestTimeout: 3000 })))
})
