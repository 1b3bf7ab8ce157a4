import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { jsonLines, runAdmin } from '../support/admin.ts'
import { CREDENTIALS, type StandIns, startStandIns } from '../support/stand-ins.ts'

let standIns: StandIns
let heedless: Server
beforeAll(async () => {
  standIns = await startStandIns()
  const Key = 'sandboxes/ws_1/sess_1/output/a b+ü.txt'
  await standIns.s3.send(new PutObjectCommand({ Bucket: standIns.config.sandboxBucket, Key, Body: 'text' }))
  heedless = await withoutConditions(standIns.s3Endpoint)
})
afterAll(async () => {
  heedless.close()
  await standIns.stop()
})

/** The same S3, which takes the conditions and does nothing about them. */
function withoutConditions(endpoint: string): Promise<Server> {
  const server = createServer((asked, answered) => {
    const { 'x-amz-copy-source-if-match': _, 'x-amz-mp-object-size': __, ...headers } = asked.headers
    const passedOn = request(`${endpoint}${asked.url}`, { method: asked.method, headers }, (answer) => {
      answered.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(answered)
    })
    asked.pipe(passedOn)
  })
  return new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(server)))
}

async function conditions(s3Endpoint: string) {
  const env = {
    ...inject('definition').environment,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: standIns.dynamoDbEndpoint,
    AWS_ENDPOINT_URL_S3: s3Endpoint,
  }
  const result = await runAdmin(['doctor', '--json'], env)
  const [check] = jsonLines(result).filter((line) => `${line.check}`.startsWith('conditions of copies'))
  return { code: result.code, verdict: check?.verdict, detail: check?.detail }
}

describe('doctor, on an S3-compatible server', () => {
  it('finds that one minds the conditions of copies', async () => {
    expect(await conditions(standIns.s3Endpoint)).toMatchObject({ code: 0, verdict: 'ok' })
  })

  it('finds that another one ignores them, and leaves nothing behind', async () => {
    const { port } = heedless.address() as AddressInfo
    const { code, verdict, detail } = await conditions(`http://127.0.0.1:${port}`)
    expect({ code, verdict }).toEqual({ code: 1, verdict: 'problem' })
    for (const condition of ['CopyObject', 'UploadPartCopy', 'CompleteMultipartUpload']) {
      expect(detail).toContain(condition)
    }
    const Bucket = standIns.config.documentsBucket
    expect((await standIns.s3.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).toEqual([])
    expect((await standIns.s3.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).toEqual([])
  })
})
