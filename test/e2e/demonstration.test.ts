import Anthropic from '@anthropic-ai/sdk'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { OpenRouter } from '@openrouter/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { demoFiles } from '../../infra/local/demo-files.ts'
import { readConfig } from '../../lib/config.ts'
import { formatFileId } from '../../lib/ids.ts'
import { documentsOf } from '../support/local-service/contents.ts'
import { promote as requestPromotion } from '../support/local-service/requests.ts'
import { sharedService, type TestService } from '../support/local-service/services.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.stop())

const promote = (token: string, containerId: string, fileId: string, headers?: Record<string, string>) =>
  requestPromotion(service.demo.base_url, { token, containerId, fileId }, headers)

describe('the demonstration over HTTP', () => {
  it('promotes every file, with its bytes and its type, and refuses the one that is too large', async () => {
    const { demo } = service
    const sources = demoFiles(readConfig({ ...process.env, ...inject('definition').environment }))
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
      const record = (await documentsOf(demo.workspace_id, service)).find(({ document_id }) => document_id === id)
      const object = await service.s3.send(
        new GetObjectCommand({ Bucket: demo.documents_bucket, Key: record?.object_key }),
      )
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
