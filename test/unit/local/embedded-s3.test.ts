import { createHash } from 'node:crypto'
import { appendFile, readdir, rename, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  CopyObjectCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  S3,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { joinChunks, startS3 } from '../../../infra/local/stores/s3.ts'
import { useDirectory } from '../../support/use-directory.ts'

const Bucket = 'bucket'
const MIB = Buffer.alloc(1024 * 1024, 'm')
const CREDENTIALS = { accessKeyId: 'x', secretAccessKey: 'x' }
const OBJECT = { Bucket, Key: 'x' }
const PUT = new PutObjectCommand(OBJECT)
const GONE = { PartNumber: 1, UploadId: 'gone' }
const CONDITION = { 'if-none-match': '"e"' }
const directory = useDirectory('s3')
let server: Awaited<ReturnType<typeof startS3>>
let s3: S3

async function start(): Promise<void> {
  server = await startS3({ directory: directory(), credentials: CREDENTIALS })
  s3 = new S3({ endpoint: server.endpoint, region: 'us-east-1', credentials: CREDENTIALS, forcePathStyle: true })
}
const urlOf = (command: object, options = {}) => getSignedUrl(s3, command as GetObjectCommand, options)
async function stop(): Promise<void> {
  s3.destroy()
  await server.stop()
}

beforeAll(async () => {
  await start()
  await s3.createBucket({ Bucket })
})
afterAll(() => stop())

const put = (Key: string, Body: string) => s3.putObject({ Bucket, Key, Body, ContentType: 'text/x' })
const get = async (Key: string) => {
  const { Body, ContentType } = await s3.getObject({ Bucket, Key })
  return [await Body?.transformToString(), ContentType]
}

it('the embedded S3 keeps its objects when it starts again; of what was replaced, deleted or half written nothing stays', async () => {
  const odd = `a//b/../${'long'.repeat(200)} é`
  await put(odd, 'kept')
  await put('replaced', 'before')
  await put('replaced', 'after')
  await put('deleted', 'x')
  await s3.deleteObject({ Bucket, Key: 'deleted' })
  const copy = { Bucket, CopySource: `${Bucket}/replaced` }
  await s3.copyObject({ ...copy, Key: 'copy' })
  await s3.copyObject({ ...copy, Key: 'hashed', ChecksumAlgorithm: 'SHA256' })
  await expect(s3.putObject({ Bucket: 'nowhere', Key: 'x' })).rejects.toThrow('NoSuchBucket')
  await appendFile(join(directory(), 'journal'), `\n["${Bucket}","half","{"pie`)
  await stop()
  await start()
  await put('new', 'x')
  await expect(s3.headBucket({ Bucket: 'nowhere' })).rejects.toMatchObject({ name: 'NotFound' })
  expect([await get(odd), await get('replaced')]).toEqual([
    ['kept', 'text/x'],
    ['after', 'text/x'],
  ])
  const told = async (Key: string, asked: { ChecksumMode?: 'ENABLED' }) =>
    (await s3.headObject({ Bucket, Key, ...asked })).ChecksumSHA256
  const sums = [await told('hashed', { ChecksumMode: 'ENABLED' }), await told('hashed', {})]
  const sha256 = createHash('sha256').update('after').digest('base64')
  expect([...sums, await told('copy', { ChecksumMode: 'ENABLED' })]).toEqual([sha256, undefined, undefined])
  const { Contents = [] } = await s3.listObjectsV2({ Bucket })
  expect(Contents.map(({ Key }) => Key)).toEqual([odd, 'copy', 'hashed', 'new', 'replaced'])
  // A copy has the bytes of what it was made of.
  expect(await readdir(join(directory(), 'bytes'))).toHaveLength(3)
})

it.each([
  ['bytes=0-0', '206 bytes 0-0/5 0'],
  ['bytes=1-3', '206 bytes 1-3/5 123'],
  ['bytes=3-|bytes=3-99', '206 bytes 3-4/5 34'],
  ['bytes=-4', '206 bytes 1-4/5 1234'],
  ['bytes=-99', '206 bytes 0-4/5 01234'],
  ['bytes=5-|bytes=5-9|bytes=-0', '416  InvalidRange'],
  ['bytes=-|bytes=3-1|bytes=a-b|bytes=0-1,3-4|bytes 0-1|lines=0-1|0-1|', '200  01234'],
])('the embedded S3 answers a range as S3 does, and what is none with everything: %s', async (ranges, expected) => {
  await put('ranges', '01234')
  for (const Range of ranges.split('|')) {
    const got = await s3.getObject({ Bucket, Key: 'ranges', Range }).catch((error) => error)
    const what = got.Body ? await got.Body.transformToString() : got.name
    expect([got.$metadata.httpStatusCode, got.ContentRange, what].join(' '), Range).toBe(expected)
  }
})

it('the embedded S3 keeps each version of a versioned bucket, shows the current ones, and keeps them when it starts again', async () => {
  const own = { Bucket: 'versioned', Key: 'a b' }
  await s3.createBucket({ Bucket: own.Bucket })
  expect(await s3.putObject({ ...own, Body: 'before' })).not.toHaveProperty('VersionId')
  const setUp = new PutBucketVersioningCommand({ ...own, VersioningConfiguration: { Status: 'Enabled' } })
  for (let times = 0; times < 2; times++) await s3.send(setUp)
  const versions: (string | undefined)[] = []
  for (const Body of ['one', 'two']) {
    await s3.putObject({ ...own, Body })
    versions.push((await s3.headObject(own)).VersionId)
  }
  await s3.deleteObject(own)
  await stop()
  await start()
  await expect(s3.headObject(own)).rejects.toMatchObject({ name: 'NotFound' })
  expect((await s3.listObjectsV2(own)).KeyCount).toBe(0)
  const read = async (object: { Key: string; VersionId?: string }) =>
    (await s3.getObject({ ...own, ...object })).Body?.transformToString()
  const [VersionId = '', newer = ''] = versions
  expect([await read({ ...own, VersionId }), await read({ ...own, VersionId: newer })]).toEqual(['one', 'two'])
  await s3.copyObject({ ...own, Key: 'c', CopySource: `versioned/a%20b?versionId=${VersionId}` })
  expect(await read({ Key: 'c' })).toBe('one')
  const gone = new CopyObjectCommand({ ...own, CopySource: 'versioned/a%20b?versionId=gone' })
  await expect(s3.send(gone)).rejects.toMatchObject({ name: 'NoSuchVersion' })
})

it('the embedded S3 frees the bytes of an upload that is aborted, but not what a part of it was copied from', async () => {
  await put('source', 'content')
  const before = await readdir(join(directory(), 'bytes'))
  const object = { Bucket, Key: 'never' }
  const upload = { ...object, UploadId: (await s3.createMultipartUpload(object)).UploadId }
  await s3.uploadPart({ ...upload, PartNumber: 1, Body: 'part' })
  await s3.uploadPartCopy({ ...upload, PartNumber: 2, CopySource: `${Bucket}/source` })
  expect(await readdir(join(directory(), 'bytes'))).toHaveLength(before.length + 1)
  await s3.abortMultipartUpload(upload)
  expect(await readdir(join(directory(), 'bytes'))).toEqual(before)
  expect(await get('source')).toEqual(['content', 'text/x'])
})

describe('bytes that arrive slowly', () => {
  const files = () => readdir(join(directory(), 'bytes'))
  const keys = async () => (await s3.listObjectsV2({ Bucket })).Contents?.map(({ Key }) => Key)
  /** A PUT of two MiB, of which the second is not sent yet. */
  const begin = async (command: object) => {
    const before = await files()
    const put = request(await urlOf(command), { method: 'PUT', headers: { 'content-length': 2 * MIB.length } })
    put.on('error', () => {})
    put.write(MIB)
    const arrived = async () => {
      const [file] = (await files()).filter((each) => !before.includes(each))
      return file === undefined ? 0 : (await stat(join(directory(), 'bytes', file))).size
    }
    return { put, arrived }
  }

  it.each(['an object', 'a part'])('leave nothing when their client breaks off %s', async (what) => {
    const before = { files: await files(), keys: await keys() }
    const { UploadId } = await s3.createMultipartUpload({ Bucket, Key: 'cut' })
    const part = new UploadPartCommand({ Bucket, Key: 'cut', PartNumber: 1, UploadId })
    const { put, arrived } = await begin(what === 'a part' ? part : PUT)
    await vi.waitFor(async () => expect(await arrived()).toBeGreaterThan(MIB.length / 2))
    put.destroy()
    await vi.waitFor(async () => expect(await files()).toEqual(before.files))
    expect(await keys()).toEqual(before.keys)
  })

  it.each<[what: string, command: object, status: number, code: string, headers?: Record<string, string>]>([
    ['of an unknown bucket', new PutObjectCommand({ Bucket: 'nowhere', Key: 'x' }), 404, 'NoSuchBucket'],
    ['of an upload that has ended', new UploadPartCommand({ ...OBJECT, ...GONE }), 404, 'NoSuchUpload'],
    ['for a missing operation', new PutObjectAclCommand({ ...OBJECT, ACL: 'private' }), 501, 'NotImplemented'],
    ['on a condition', new PutObjectCommand({ ...OBJECT, IfNoneMatch: '"e"' }), 501, 'NotImplemented', CONDITION],
  ])('are removed when the request is refused: %s', async (_, command, status, code, headers = {}) => {
    const before = await files()
    const answer = await fetch(await urlOf(command), { method: 'PUT', headers, body: MIB })
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(`<Code>${code}<`)])
    expect(await files()).toEqual(before)
  })

  it('are refused in words when the disk fails, and the next ones taken when it does not', async () => {
    const [folder, away] = [join(directory(), 'bytes'), join(directory(), 'away')]
    await rename(folder, away)
    const failed = await fetch(await urlOf(PUT), { method: 'PUT', body: MIB })
    expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining('ENOENT on the machine')])
    await rename(away, folder)
    await put('x', 'again')
    expect(await get('x')).toEqual(['again', 'text/x'])
  })

  it('are joined wherever the network cuts chunks, which may not be too few', async () => {
    const sent = Buffer.from('5;chunk-signature=0\r\nhello\r\n3\r\n\r\n!\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n')
    const cut = async function* (sizeBytes: number, end = sent.length) {
      for (let at = 0; at < end; at += sizeBytes) yield sent.subarray(at, Math.min(end, at + sizeBytes))
    }
    for (const size of [1, 2, 3, 7, 100]) expect(await text(joinChunks(cut(size)))).toBe('hello\r\n!')
    await expect(text(joinChunks(cut(100, 30)))).rejects.toThrow('IncompleteBody')
  })
})

describe('the embedded S3 checks what is signed', () => {
  const GET = new GetObjectCommand({ ...OBJECT, ResponseContentDisposition: `attachment; filename="a'(1)*.csv"` })
  const CODE = /<Code>(.*)<\/Code>/
  const ago = (seconds: number) => ({ signingDate: new Date(Date.now() - 1000 * seconds), expiresIn: 60 })

  it.each<[what: string, answer: string, options: object, change: (url: string) => string, init?: RequestInit]>([
    ['as it is', '200', {}, (url) => url],
    ['by HEAD', '403', {}, (url) => url, { method: 'HEAD' }],
    ['by PUT', '403 SignatureDoesNotMatch', {}, (url) => url, { method: 'PUT', body: 'x' }],
    ['for another object', '403 SignatureDoesNotMatch', {}, (url) => url.replace('/x?', '/y?')],
    ['with another disposition', '403 SignatureDoesNotMatch', {}, (url) => url.replace('attachment', 'inline')],
    ['with another signature', '403 SignatureDoesNotMatch', {}, (url) => url.replace(/(?<=Signature=)..../, '0000')],
    ['for longer', '403 SignatureDoesNotMatch', ago(50), (url) => url.replace('Expires=60', 'Expires=600')],
    ['with ten seconds left', '200', ago(50), (url) => url],
    ['too late', '403 AccessDenied', ago(70), (url) => url],
    ['for more than a week', '400 AuthorizationQueryParametersError', ago(0), (url) => url.replace('=60', '=604801')],
    ['with what names an algorithm only', '403 AccessDenied', {}, (url) => url.replace(/\?.*/, '?X-Amz-Algorithm=x')],
    ['with a header of its own', '403 AccessDenied', {}, (url) => url, { headers: { 'x-amz-copy-source': 'a/b' } }],
    ['with the header of the API', '400 InvalidArgument', {}, (url) => url, { headers: { authorization: 'Bearer x' } }],
    ['with another key', '403 InvalidAccessKeyId', {}, (url) => url.replace('Credential=x', 'Credential=y')],
  ])('a URL to get an object, used %s: %s', async (_, expected, options, change, init = {}) => {
    await put('x', 'content')
    const answer = await fetch(change(await urlOf(GET, options)), init)
    expect([answer.status, CODE.exec(await answer.text())?.[1]].filter(Boolean).join(' ')).toBe(expected)
    expect(answer.headers.get('content-security-policy'), 'no script of a document runs').toBe('sandbox')
    expect(await get('x')).toEqual(['content', 'text/x'])
  })

  it('a header of another secret: 403', async () => {
    const credentials = { ...CREDENTIALS, secretAccessKey: 'y' }
    const other = new S3({ endpoint: server.endpoint, region: 'us-east-1', credentials, forcePathStyle: true })
    await expect(other.send(GET)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' })
    other.destroy()
  })
})
