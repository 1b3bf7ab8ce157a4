import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startS3 } from '../../../infra/local/stores/s3.ts'

const Bucket = 'bucket'
const CREDENTIALS = { accessKeyId: 'x', secretAccessKey: 'x' }
let directory: string
let server: Awaited<ReturnType<typeof startS3>>
let s3: S3Client

async function start(): Promise<void> {
  server = await startS3({ directory })
  s3 = new S3Client({ endpoint: server.endpoint, region: 'us-east-1', credentials: CREDENTIALS, forcePathStyle: true })
}
async function stop(): Promise<void> {
  s3.destroy()
  await server.stop()
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-s3-'))
  await start()
  await s3.send(new CreateBucketCommand({ Bucket }))
})
afterAll(async () => {
  await stop()
  await rm(directory, { recursive: true, force: true })
})

const put = (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/x' }))
const get = async (Key: string) => {
  const { Body, ContentType } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  return [await Body?.transformToString(), ContentType]
}

it('the embedded S3 keeps its objects when it starts again; of what was replaced, deleted or half written nothing stays', async () => {
  const odd = `a//b/../${'long'.repeat(200)} é`
  await put(odd, 'kept')
  await put('replaced', 'before')
  await put('replaced', 'after')
  await put('deleted', 'x')
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'deleted' }))
  await appendFile(join(directory, 'journal'), `\n["${Bucket}","half","{"pie`)
  await stop()
  await start()
  await put('new', 'x')
  expect([await get(odd), await get('replaced')]).toEqual([
    ['kept', 'text/x'],
    ['after', 'text/x'],
  ])
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
  expect(Contents.map(({ Key }) => Key)).toEqual([odd, 'new', 'replaced'])
  expect(await readdir(join(directory, 'bytes'))).toHaveLength(3)
})
