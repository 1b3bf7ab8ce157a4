import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { demoFiles } from '../../infra/local/stores/demo-files.ts'
import { readConfig } from '../../lib/config.ts'
import type { DocumentId, WorkspaceId } from '../../lib/ids.ts'
import { promote as requestPromotion } from '../support/machine/requests.ts'
import { type OwnService, startService } from '../support/machine/services.ts'
import { storesOf } from '../support/machine/storm.ts'
import { newAttempt, pendingOf } from '../support/stores/ledger-values.ts'
import { useDirectory } from '../support/use-directory.ts'

const HOUR_MS = 3_600_000
/** Never reached, however busy the machine. */
const signal = AbortSignal.timeout(600_000)
const PATIENCE = { timeout: 120_000, interval: 100 }

const directory = useDirectory('kept')
let service: OwnService
beforeAll(async () => {
  service = await startService({ directory: directory(), everyMs: 500 })
})
afterAll(() => service.stop())

const promote = (token: string, containerId: string, fileId = '', headers?: Record<string, string>) =>
  requestPromotion(service.demo.base_url, { token, containerId, fileId }, headers)

it('the demonstration promotes every file, with its bytes and its type', async () => {
  const { demo } = service
  const stores = await storesOf(directory())
  const sources = demoFiles(readConfig({ ...process.env, ...inject('definition').environment }))
  expect(demo.files.map(({ path }) => path)).toEqual(sources.map(({ path }) => path))
  for (const [index, file] of demo.files.entries()) {
    const response = await promote(demo.standard_key, demo.container_id, file.file_id)
    const { path: filename, size_bytes } = file
    expect(response, filename).toMatchObject({ status: 200, body: { filename, size_bytes } })
    const { id, mime_type } = response.body as { id: string; mime_type: string }
    const record = await stores.documents.find(
      { workspaceId: demo.workspace_id as WorkspaceId, documentId: id as DocumentId },
      signal,
    )
    const { ContentType, Body } = await service.s3.getObject({
      Bucket: demo.documents_bucket,
      Key: record?.objectKey,
    })
    expect(ContentType).toBe(mime_type)
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
    expect(bytes.equals(sources[index]?.body ?? Buffer.from('?')), filename).toBe(true)
  }
  expect((await promote(demo.powerless_key, demo.container_id, demo.files[0]?.file_id)).status).toBe(403)
})

it('the schedule of the resolver has what a process left behind undone: its bytes are free again', async () => {
  const { documents, ledger } = await storesOf(directory())
  const attempt = newAttempt({ workspaceId: service.newWorkspaceId(), leaseEndsAtMs: Date.now() - HOUR_MS })
  await documents.begin(pendingOf(attempt), undefined, signal)
  await ledger.hold(attempt, signal, 0)
  const read = () => ledger.read(attempt.workspaceId, signal)
  expect(await read()).toMatchObject({ usedBytes: attempt.sizeBytes })
  await vi.waitFor(async () => expect(await read()).toMatchObject({ usedBytes: 0, holds: [] }), PATIENCE)
})
