import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { paths } from './openapi.ts'

const { BASE_URL = '', PLATFORM_KEY = '', WORKSPACE: workspace_id = '', CONTAINER: container_id = '' } = process.env
const clientOf = (key = '') => createClient<paths>({ baseUrl: BASE_URL, headers: { authorization: `Bearer ${key}` } })
type Answer<Data> = { data?: Data; error?: { error: { metadata: { detail: string } } } }
function dataOf<Data>({ data, error }: Answer<Data>) {
  if (!data) throw new Error(error?.error.metadata.detail)
  return data
}

// A tenant.
const platform = clientOf(PLATFORM_KEY)
const key = { path: { workspace_id, name: 'backend' } }
dataOf(await platform.PUT('/workspaces/{workspace_id}', { params: key, body: { requests_per_minute: 60 } }))
const rights = { permissions: ['files:promote' as const, 'files:read' as const, 'containers:write' as const] }
const made = await platform.PUT('/workspaces/{workspace_id}/keys/{name}', { params: key, body: rights })
const client = clientOf(dataOf(made).token)

// A file.
const path = { container_id, file_id: `cfile_${Buffer.from('a.csv').toString('base64url')}` }
const params = { path, header: { 'Idempotency-Key': 'task-1' } }
const document = dataOf(await client.POST('/containers/{container_id}/files/{file_id}/promote', { params }))
if (document._shape === 'native') console.log(document.filename, document.size_bytes, document.expires_at)
const found = { params: { path: { document_id: document.id } }, parseAs: 'stream' } as const
console.log(await (await client.GET('/files/{document_id}/content', found)).response.text())
console.log(dataOf(await client.GET('/files', { params: { query: { limit: 10 } } })).data.length)

// A run.
for (let next: string | null | undefined; next !== null; ) {
  const body = { paths: ['a.csv', 'b.csv', 'gone.csv'], after: next }
  const page = dataOf(await client.POST('/containers/{container_id}/promote', { params: { path }, body }))
  for (const each of page.data)
    console.log(each.outcome, each.outcome === 'refused' ? each.error.metadata.reason : each.document.id)
  next = page.next
  await sleep(1000 * (page.retry_after_seconds ?? 0))
}

// The next turn.
const restored = { files: [{ file_id: document.id }, { file_id: document.id, path: 'old/a.csv' }] }
const next = { params: { path: { container_id: `${container_id}-r2` } }, body: restored }
for (const each of dataOf(await client.POST('/containers/{container_id}/restore', next)).data)
  console.log(each.outcome, each.outcome === 'refused' ? each.error.code : each.container_file.bytes)
