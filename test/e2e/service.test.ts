import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalService, startLocalService } from '../../infra/local/service.ts'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { formatFileId } from '../../lib/ids.ts'
import type { AnyResponse } from '../support/http/openapi.ts'
import { documentsOf, objectKeysOf, workspaceItem } from '../support/local-service/contents.ts'
import { promote as requestPromotion } from '../support/local-service/requests.ts'
import { ROOT } from '../support/local-service/services.ts'

let directory: string
let service: LocalService
let dynamoDb: DynamoDBClient
let s3: S3Client

const start = () => startLocalService({ root: ROOT, port: 0, directory, environment: {}, log: () => {} })
const connect = () => {
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  dynamoDb = new DynamoDBClient({ ...common, endpoint: service.demo.dynamodb_endpoint })
  s3 = new S3Client({ ...common, endpoint: service.demo.s3_endpoint })
}
const stores = () => ({ demo: service.demo, dynamoDb, s3 })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-e2e-'))
  service = await start()
  connect()
})
afterAll(async () => {
  await service.stop()
  await rm(directory, { recursive: true, force: true })
})

const promote = (token: string, containerId: string, fileId: string, headers?: Record<string, string>) =>
  requestPromotion(service.demo.base_url, { token, containerId, fileId }, headers)

describe('100 parallel promotions into a workspace with room for exactly 30', () => {
  it('30 succeed, 70 get the quota 403, and the ledger is exact', async () => {
    const { demo } = service
    const [workspaceId, token, bytes] = ['ws_thirty', newToken(), Buffer.from('x'.repeat(1000))]
    const key = {
      token_hash: hashToken(token),
      key_id: 'key_thirty',
      workspace_id: workspaceId,
      kind: 'management',
      status: 'enabled',
    }
    await dynamoDb.send(new PutItemCommand({ TableName: demo.keys_table, Item: marshall(key) }))
    const quotaBytes = 30 * bytes.length + 999
    const workspace = {
      workspace_id: workspaceId,
      quota_bytes: quotaBytes,
      remaining_bytes: quotaBytes,
      takings: {},
      releases: {},
    }
    await dynamoDb.send(new PutItemCommand({ TableName: demo.workspaces_table, Item: marshall(workspace) }))
    await s3.send(
      new PutObjectCommand({ Bucket: demo.sandbox_bucket, Key: `sandboxes/${workspaceId}/sess_1/a.bin`, Body: bytes }),
    )

    // On a busy machine some are told to come back, and do.
    const untilThrough = async (): Promise<AnyResponse> => {
      const response = await promote(token, 'sess_1', formatFileId('a.bin'))
      if (response.status !== 429 && response.status !== 503) return response
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers['retry-after'])))
      return untilThrough()
    }
    const responses = await Promise.all(Array.from({ length: 100 }, untilThrough))

    const succeeded = responses.filter(({ status }) => status === 200)
    const refused = responses.filter(({ status }) => status === 403)
    expect([succeeded.length, refused.length]).toEqual([30, 70])
    expect(
      new Set(refused.map(({ body }) => (body as { error: { metadata: { reason: string } } }).error.metadata.reason)),
    ).toEqual(new Set(['storage_quota_exceeded']))
    expect(await workspaceItem(workspaceId, stores())).toMatchObject({
      ...workspace,
      remaining_bytes: 999,
      takings: {},
      releases: {},
    })
    const documents = await documentsOf(workspaceId, stores())
    expect(documents.map(({ document_id }) => document_id).toSorted()).toEqual(
      succeeded.map(({ body }) => (body as { id: string }).id).toSorted(),
    )
    expect((await objectKeysOf(workspaceId, stores())).toSorted()).toEqual(
      documents.map(({ object_key }) => object_key).toSorted(),
    )
  })
})

describe('100 simultaneous promotions with one Idempotency-Key', () => {
  it('make one document, counted once; who is told to come back gets it', async () => {
    const { full_workspace: full } = service.demo
    const before = await workspaceItem(full.workspace_id, stores())
    const [token, fileId] = [full.standard_key, full.files[0]?.file_id ?? '']
    const untilAnswered = async (): Promise<AnyResponse> => {
      const response = await promote(token, full.container_id, fileId, { 'idempotency-key': '"one-for-all"' })
      if (response.status === 200) return response
      expect([429, 503]).toContain(response.status)
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers['retry-after'])))
      return untilAnswered()
    }
    const responses = await Promise.all(Array.from({ length: 100 }, untilAnswered))
    expect(new Set(responses.map(({ body }) => (body as { id: string }).id)).size).toBe(1)
    const after = await workspaceItem(full.workspace_id, stores())
    expect(before.remaining_bytes - after.remaining_bytes).toBe(full.files[0]?.size_bytes)
    expect(after).toMatchObject({ takings: {}, releases: {} })
  })
})

describe('started again on the same data', () => {
  it('keeps keys and documents', async () => {
    const { demo } = service
    const promoteFirst = () => promote(demo.standard_key, demo.container_id, demo.files[0]?.file_id ?? '')
    expect((await promoteFirst()).status).toBe(200)
    const documentsBefore = await documentsOf(demo.workspace_id, stores())
    dynamoDb.destroy()
    s3.destroy()
    await service.stop()
    service = await start()
    connect()
    expect((await promoteFirst()).status).toBe(200)
    const documents = await documentsOf(demo.workspace_id, stores())
    expect(documents).toHaveLength(documentsBefore.length + 1)
    expect(documents).toEqual(expect.arrayContaining(documentsBefore))
  })
})
