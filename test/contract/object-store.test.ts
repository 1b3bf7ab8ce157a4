import { createHash } from 'node:crypto'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStores } from '../../lib/aws/stores.ts'
import type { ContainerFile } from '../../lib/containers/container-files.ts'
import { newAttemptId, type WorkspaceId } from '../../lib/ids.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import { COPY_SETTINGS } from '../support/stores/memory-objects.ts'
import { patternBytes } from '../support/stores/pattern-bytes.ts'
import { useStandIns } from '../support/stores/stand-ins.ts'

const MIB = 1024 * 1024
const THRESHOLD = COPY_SETTINGS.multipartThresholdBytes
const { signal } = new AbortController()

type Stores = ReturnType<typeof openStores>
const standIns = useStandIns()
let [store, containerFiles] = [] as unknown as [Stores['objects'], Stores['containerFiles']]
/** Each test has a new container. */
let prefix: string
beforeEach(() => {
  const { s3, dynamoDb, config } = standIns()
  const stores = openStores({ config: { ...config, ...COPY_SETTINGS }, s3, dynamoDb, now: Date.now })
  ;[store, containerFiles] = [stores.objects, stores.containerFiles]
  prefix = `sandboxes/ws_1/${newAttemptId()}/`
})
afterEach(async () => {
  const { s3, config } = standIns()
  const { Uploads = [] } = await s3.listMultipartUploads({ Bucket: config.documentsBucket })
  expect(Uploads).toEqual([])
})

const put = (Key: string, object: Partial<PutObjectCommandInput> = {}, Bucket = standIns().config.sandboxBucket) =>
  standIns().s3.putObject({ Bucket, Key, Body: 'content', ...object })
const putFile = async (path: string, object: Partial<PutObjectCommandInput> = {}): Promise<ContainerFile> => {
  await put(prefix + path, object)
  return (await store.findContainerFile(prefix + path, signal)) ?? expect.fail(`${prefix}${path} was not found`)
}
const newTarget = () => `documents/ws_1/${newAttemptId()}/${newAttemptId()}`
const copyTo = (source: ContainerFile, objectKey: string) =>
  store.copy({ source, objectKey, mimeType: 'application/x-pattern' }, signal)
const read = async (Key: string) => {
  const { s3, config } = standIns()
  const { Body, ...headers } = await s3.getObject({ Bucket: config.documentsBucket, Key })
  return { headers, bytes: Buffer.from((await Body?.transformToByteArray()) ?? []) }
}

it('reads the beginning of a file, and all of a shorter one', async () => {
  for (const text of ['123456', '12', '']) {
    const file = await putFile('a.txt', { Body: Buffer.from(text) })
    expect(Buffer.from(await store.readStart(file, 4, signal)).toString()).toBe(text.slice(0, 4))
  }
})

describe('a copy', () => {
  it.each([
    ['0 bytes', 0],
    ['exactly the threshold', THRESHOLD],
    ['a byte above the threshold, in two parts', THRESHOLD + 1],
    ['three parts of no round size', 36 * MIB + 12_345],
  ])('of %s has every byte, type and encoding, and tells the SHA-256 where it can', async (_, sizeBytes) => {
    const [bytes, objectKey] = [patternBytes(sizeBytes), newTarget()]
    const source = await putFile('some.bin', { Body: bytes, ContentType: 'text/plain', ContentEncoding: 'gzip' })
    const { sha256 } = await copyTo(source, objectKey)
    expect(sha256).toBe(sizeBytes > THRESHOLD ? undefined : createHash('sha256').update(bytes).digest('hex'))
    expect(await store.describeObject(objectKey, signal)).toEqual({ sizeBytes, sha256 })
    expect(await store.describeObject(`${objectKey}1`, signal)).toBeUndefined()
    const copied = await read(objectKey)
    expect(copied.headers).toMatchObject({ ContentType: 'application/x-pattern', ContentEncoding: 'gzip' })
    expect(copied.bytes.equals(bytes)).toBe(true)
  })

  const RESERVED = `a+b 100% 100%25 what? #1 a&b=c 'single' "double" semi;colon:at@,dollar$ back\\slash|pipe^caret~tilde\``
  it.each([
    ['with reserved characters', `${RESERVED} (paren)[bracket]{brace}<angle>!*.txt`],
    ['with letters of all kinds', '\ufeffотчёт 結果 📄🧪 e\u0301 and \u00e9'],
    ['of dots', '...'],
    ['of many segments', `deep/${'d/'.repeat(60)}file.txt`],
  ])('is made of a key %s, whole and in parts', async (_, path) => {
    for (const Body of [Buffer.from(path), patternBytes(THRESHOLD + 1)]) {
      const objectKey = newTarget()
      await copyTo(await putFile(path, { Body }), objectKey)
      expect((await read(objectKey)).bytes.equals(Body)).toBe(true)
    }
  })

  it('is made of a key of 1,024 bytes in one segment', async () => {
    const room = 1024 - Buffer.byteLength(prefix)
    const path = '📄'.repeat(Math.floor(room / 4)) + 'x'.repeat(room % 4)
    const objectKey = newTarget()
    await copyTo(await putFile(path), objectKey)
    expect((await read(objectKey)).bytes.toString()).toBe('content')
  })

  it.each([
    ['whole', 10],
    ['in parts', THRESHOLD + 1],
  ])('is not made %s of what is no longer what was looked up', async (_, sizeBytes) => {
    const source = await putFile('a.bin', { Body: patternBytes(sizeBytes) })
    const changed = Buffer.from(patternBytes(sizeBytes))
    changed[sizeBytes - 1] = 0
    await putFile('a.bin', { Body: changed })
    const objectKey = newTarget()
    await expect(copyTo(source, objectKey)).rejects.toMatchObject({ reason: 'container_file_changed' })
    await store.discard({ objectKey }, signal)
    expect(await store.hasObject(objectKey, signal)).toBe(false)
  })
})

describe('a list', () => {
  const ODD = ['dir/', 'a b.txt', 'a+b.txt', '100%25.txt', 'what?#&=.txt', '<tag>"quoted".txt', 'é.txt', 'e\u0301.txt']
  const ODDER = ['結果.txt', '\uff5e.txt', '📄.txt', 'tab\there.txt', `it's (100~!).txt`]
  const IN_ORDER = [...ODD, ...ODDER].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

  it.each([
    [1, [1, 12]],
    [5, [5, 8]],
    [1000, [13]],
  ])('of container files has every key by its bytes, the first %i of them at once', async (firstPage, pages) => {
    await put(`${prefix.slice(0, -1)}-r1/a of another container`)
    for (const path of IN_ORDER) await put(prefix + path)
    const list = (after?: string) => {
      const query = { keyPrefix: prefix, afterKey: after && prefix + after, firstPage }
      return Array.fromAsync(containerFiles.listContainerFiles(query, signal))
    }
    const pathsOf = (listed: Awaited<ReturnType<typeof list>>) =>
      listed.flatMap(({ files }) => files.map(({ objectKey }) => objectKey.slice(prefix.length)))
    const all = await list()
    expect(pathsOf(all)).toEqual(IN_ORDER)
    const lengths = pages.map((length, page) => [length, page === pages.length - 1])
    expect(all.map(({ files, isLast }) => [files.length, isLast])).toEqual(lengths)
    expect(pathsOf(await list(IN_ORDER[3]))).toEqual(IN_ORDER.slice(4))
  })

  const documentKeys = async (names: string[]) => {
    const workspacePrefix = `documents/ws_${newAttemptId()}/`
    const keys = names.map((name) => workspacePrefix + name)
    for (const key of keys) await put(key, {}, standIns().config.documentsBucket)
    return { workspacePrefix, keys }
  }
  const keysBehind = async (keyPrefix: string, after?: string) =>
    (await Array.fromAsync(store.listObjects(keyPrefix, signal, after))).map(({ objectKey }) => objectKey)

  it('of objects goes on behind any object or folder', async () => {
    const { workspacePrefix, keys } = await documentKeys(['a-/1', 'a/1', 'a/2', 'a0/1', 'ab/1', 'b/1'])
    for (const [index, key] of keys.entries()) {
      expect(await keysBehind(workspacePrefix, key)).toEqual(keys.slice(index + 1))
    }
    const folders = ['a-/', 'a/', 'a0/', 'ab/', 'b/'].map((name) => workspacePrefix + name)
    for (const [index, folder] of folders.entries()) {
      const behind = await Array.fromAsync(store.listPrefixes(workspacePrefix, signal, folder))
      expect(behind).toEqual(folders.slice(index + 1))
    }
  })

  it('of more objects than fit into one page of S3 has all of them', async () => {
    const { workspacePrefix, keys } = await documentKeys(Array.from({ length: 1001 }, (_, i) => `file_${1000 + i}/1`))
    expect(await keysBehind(workspacePrefix)).toEqual(keys)
  })
})

it.each([
  'sandboxes/{workspace_id}/{container_id}/{path}',
  // The prefix that is listed has files of all workspaces.
  'odd/{container_id}/{workspace_id}/{path}',
])('erases all that a bucket has of a workspace, unfinished uploads too, and none of others: %s', async (sandbox) => {
  const { s3, dynamoDb, config } = standIns()
  const keyTemplates = { ...config.keyTemplates, sandbox }
  const settings = { config: { ...config, ...COPY_SETTINGS, keyTemplates }, s3, dynamoDb, now: Date.now }
  const { erasedObjects } = openStores(settings)
  const workspaceId = `ws_${newAttemptId()}` as WorkspaceId
  const Bucket = config.sandboxBucket
  const keyOf = (id: string, path: string) =>
    createObjectKeys(keyTemplates).sandboxFile({ workspaceId: id, containerId: 'sess_1', path } as never)
  const ofOther = ['a.txt', 'b'].map((path) => keyOf(`${workspaceId}0`, path))
  for (const Key of [keyOf(workspaceId, 'a b+c.txt'), keyOf(workspaceId, 'é/结果'), `${ofOther[0]}`]) await put(Key)
  for (const Key of [keyOf(workspaceId, 'b'), ofOther[1]]) await s3.createMultipartUpload({ Bucket, Key })
  const erase = () => erasedObjects.erase({ bucket: 'sandbox', workspaceId }, signal)
  expect([await erase(), await erase()]).toEqual([
    { erased: 3, refused: 0 },
    { erased: 0, refused: 0 },
  ])
  const { Contents = [] } = await s3.listObjectsV2({ Bucket })
  const { Uploads = [] } = await s3.listMultipartUploads({ Bucket })
  const keys = [...Contents, ...Uploads].map(({ Key = '' }) => Key)
  expect(keys.filter((key) => key.includes(workspaceId))).toEqual(ofOther)
})

it('says of a bucket that lists nothing to us why, and fails for any other reason', async () => {
  const { dynamoDb, config } = standIns()
  const erase = (httpStatusCode: number) => {
    const answer = async () => Promise.reject(Object.assign(new Error('no'), { $metadata: { httpStatusCode } }))
    const s3 = { send: answer } as unknown as S3Client
    const { erasedObjects } = openStores({ config: { ...config, ...COPY_SETTINGS }, s3, dynamoDb, now: Date.now })
    return erasedObjects.erase({ bucket: 'sandbox', workspaceId: 'ws_1' as WorkspaceId }, signal)
  }
  expect(await erase(403)).toEqual({ erased: 0, refused: 0, isDenied: true, reason: 'Error' })
  await expect(erase(404)).rejects.toThrow('no')
})
