import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoFiles } from '../../infra/local/demo-files.ts'
import { type LocalService, startLocalService } from '../../infra/local/service.ts'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { readConfig } from '../../lib/config.ts'
import { formatFileId } from '../../lib/ids.ts'
import { detailOf, NEAR_MISSES } from '../support/near-misses.ts'
import { type AnyResponse, expectDocumented } from '../support/openapi.ts'

const ROOT = join(import.meta.dirname, '../..')
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

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-e2e-'))
  service = await start()
  connect()
})
afterAll(async () => {
  await service.stop()
  await rm(directory, { recursive: true, force: true })
})

async function request(path: string, init: RequestInit): Promise<AnyResponse> {
  const response = await fetch(`${service.demo.base_url}${path}`, { method: 'POST', ...init })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() }
}

async function promote(token: string, containerId: string, fileId: string, headers: Record<string, string> = {}) {
  const response = await request(`/containers/${containerId}/files/${fileId}/promote`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  expectDocumented(response)
  return response
}

const documentsOf = async (workspaceId: string) => {
  const { Items = [] } = await dynamoDb.send(
    new QueryCommand({
      TableName: service.demo.documents_table,
      KeyConditionExpression: 'workspace_id = :id',
      ExpressionAttributeValues: marshall({ ':id': workspaceId }),
    }),
  )
  return Items.map((item) => unmarshall(item))
}
const workspaceItem = async (workspaceId: string) => {
  const Key = marshall({ workspace_id: workspaceId })
  const { Item } = await dynamoDb.send(new GetItemCommand({ TableName: service.demo.workspaces_table, Key }))
  return unmarshall(Item ?? {})
}
const objectKeysOf = async (workspaceId: string) => {
  const Prefix = `documents/${workspaceId}/`
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: service.demo.documents_bucket, Prefix }))
  return Contents.map(({ Key }) => Key)
}

describe('the demonstration over HTTP', () => {
  it('promotes every file, with its bytes and its type, and refuses the one that is too large', async () => {
    const { demo } = service
    const sources = demoFiles(readConfig({ ...process.env, ...(await localEnvironment()) }))
    expect(demo.files.map(({ path }) => path)).toEqual(sources.map(({ path }) => path))
    for (const [index, file] of demo.files.entries()) {
      const response = await promote(demo.standard_key, demo.container_id, file.file_id)
      if (file.path === 'data/too-large.bin') {
        expect(response.status).toBe(413)
        continue
      }
      expect(response, file.path).toMatchObject({
        status: 200,
        body: { filename: file.path, size_bytes: file.size_bytes },
      })
      const { id, mime_type } = response.body as { id: string; mime_type: string }
      const record = (await documentsOf(demo.workspace_id)).find(({ document_id }) => document_id === id)
      const object = await s3.send(new GetObjectCommand({ Bucket: demo.documents_bucket, Key: record?.object_key }))
      expect(object.ContentType).toBe(mime_type)
      const bytes = Buffer.from((await object.Body?.transformToByteArray()) ?? [])
      expect(bytes.equals(sources[index]?.body ?? Buffer.from('?')), file.path).toBe(true)
    }
  })

  it('answers 403 in the nearly full workspace for what does not fit, and 200 for what does', async () => {
    const { full_workspace: full } = service.demo
    const [fits, doesNotFit] = full.files
    expect((await promote(full.management_key, full.container_id, fits?.file_id ?? '')).status).toBe(200)
    expect(await promote(full.standard_key, full.container_id, doesNotFit?.file_id ?? '')).toMatchObject({
      status: 403,
      body: { error: { message: 'Workspace storage quota exceeded', metadata: { reason: 'storage_quota_exceeded' } } },
    })
  })

  it('answers 403 to a key without the permission', async () => {
    const { demo } = service
    expect((await promote(demo.powerless_key, demo.container_id, demo.files[0]?.file_id ?? '')).status).toBe(403)
  })

  it("shows no key another workspace's container", async () => {
    const { demo } = service
    const [own, foreign] = [demo.container_id, demo.full_workspace.container_id]
    const fileId = demo.full_workspace.files[0]?.file_id ?? ''
    expect(await promote(demo.management_key, foreign, fileId)).toMatchObject({
      status: 404,
      body: { error: { metadata: { reason: 'container_not_found' } } },
    })
    for (const path of [`../../${demo.full_workspace.workspace_id}/${foreign}/fits.txt`, `../${foreign}/fits.txt`]) {
      expect((await promote(demo.management_key, own, formatFileId(path))).status).toBe(400)
    }
    const encoded = encodeURIComponent(`../${demo.full_workspace.workspace_id}/${foreign}`)
    expect((await promote(demo.management_key, encoded, fileId)).status).toBe(400)
  })
})

describe('what the gateway answers itself', () => {
  it.each([
    ['an unknown route', '/documents', { method: 'GET' }, 404, 'route_not_found'],
    ['another method', '/containers/a/files/b/promote', { method: 'GET' }, 404, 'method_not_allowed'],
    [
      'a body above 10 MB',
      '/containers/a/files/b/promote',
      { body: Buffer.alloc(10 * 1024 * 1024 + 1) },
      413,
      'request_too_large',
    ],
  ])('for %s has the error body', async (_, path, init, status, reason) => {
    const response = await request(path, init)
    expectDocumented(response)
    expect(response).toMatchObject({ status, body: { error: { code: status, metadata: { reason } } } })
  })
})

describe('a path that is nearly right', () => {
  it.each(NEAR_MISSES)('$what: the answer names what was probably meant, and the fault', async (miss) => {
    const response = await fetch(new URL(service.demo.base_url).origin + miss.path, { method: 'POST', body: 'a=b' })
    expect(response.status).toBe(404)
    const { error } = (await response.json()) as { error: { metadata: object } }
    expect(error.metadata).toEqual({ reason: 'route_not_found', detail: detailOf(miss) })
  })

  it('with the wrong method: Allow names the right ones, and the reason is another', async () => {
    for (const [path, allow] of [
      ['/containers/a/files/b/promote', 'POST'],
      ['/files/file_x', 'DELETE, GET'],
    ] as const) {
      const response = await fetch(service.demo.base_url + path, { method: 'PATCH' })
      expect([response.status, response.headers.get('allow')]).toEqual([404, allow])
      const { error } = (await response.json()) as { error: { metadata: { reason: string; detail: string } } }
      expect(error.metadata.reason).toBe('method_not_allowed')
      expect(error.metadata.detail).toContain('the Allow header names those it has')
    }
  })
})

describe("the vendors' libraries", () => {
  const path = () => `/containers/${service.demo.container_id}/files/${service.demo.files[0]?.file_id}/promote`

  it('OpenRouter: promoteContainerFile parses the answer and understands the errors', async () => {
    const { demo } = service
    const client = new OpenRouter({ apiKey: demo.standard_key, serverURL: demo.base_url })
    const ids = { containerId: demo.container_id, fileId: demo.files[0]?.file_id ?? '' }
    expect(await client.containers.promoteContainerFile(ids)).toMatchObject({
      shape: 'openrouter',
      filename: 'output/report.csv',
      sizeBytes: 8763,
      downloadable: true,
    })
    await expect(client.containers.promoteContainerFile({ ...ids, containerId: 'unknown' })).rejects.toMatchObject({
      statusCode: 404,
      error: { code: 404, message: 'Resource not found' },
    })
  })

  it('OpenAI: gets compat_b without asking for it', async () => {
    const { demo } = service
    const client = new OpenAI({ apiKey: demo.standard_key, baseURL: demo.base_url })
    expect(await client.post(path())).toMatchObject({
      _shape: 'compat_b',
      object: 'file',
      bytes: 8763,
      status: 'processed',
    })
    await expect(client.post('/containers/unknown/files/cfile_YQ/promote')).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('Anthropic: gets compat_a without asking for it', async () => {
    const { demo } = service
    const client = new Anthropic({ apiKey: null, authToken: demo.standard_key, baseURL: demo.base_url })
    expect(await client.post(path())).toMatchObject({
      _shape: 'compat_a',
      type: 'file',
      size_bytes: 8763,
      downloadable: true,
    })
    const wrong = new Anthropic({ apiKey: null, authToken: 'wrong', baseURL: demo.base_url })
    await expect(wrong.post(path())).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })
})

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
    expect(await workspaceItem(workspaceId)).toMatchObject({
      ...workspace,
      remaining_bytes: 999,
      takings: {},
      releases: {},
    })
    const documents = await documentsOf(workspaceId)
    expect(documents.map(({ document_id }) => document_id).toSorted()).toEqual(
      succeeded.map(({ body }) => (body as { id: string }).id).toSorted(),
    )
    expect((await objectKeysOf(workspaceId)).toSorted()).toEqual(
      documents.map(({ object_key }) => object_key).toSorted(),
    )
  })
})

describe('100 simultaneous promotions with one Idempotency-Key', () => {
  it('make one document, counted once; who is told to come back gets it', async () => {
    const { full_workspace: full } = service.demo
    const before = await workspaceItem(full.workspace_id)
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
    const after = await workspaceItem(full.workspace_id)
    expect(before.remaining_bytes - after.remaining_bytes).toBe(full.files[0]?.size_bytes)
    expect(after).toMatchObject({ takings: {}, releases: {} })
  })
})

describe('started again on the same data', () => {
  it('keeps keys and documents', async () => {
    const before = { demo: service.demo, documents: await documentsOf(service.demo.workspace_id) }
    dynamoDb.destroy()
    s3.destroy()
    await service.stop()
    service = await start()
    connect()
    const { demo } = before
    expect((await promote(demo.standard_key, demo.container_id, demo.files[0]?.file_id ?? '')).status).toBe(200)
    const documents = await documentsOf(demo.workspace_id)
    expect(documents).toHaveLength(before.documents.length + 1)
    expect(documents).toEqual(expect.arrayContaining(before.documents))
  })
})

async function localEnvironment() {
  const { inject } = await import('vitest')
  return inject('definition').environment
}
