import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from './hey/client/index.ts'
import * as api from './hey/index.ts'

const { BASE_URL = '', PLATFORM_KEY = '', WORKSPACE: workspace_id = '', CONTAINER: container_id = '' } = process.env
const clientOf = (auth = '') => ({ client: createClient({ baseUrl: BASE_URL, auth }), throwOnError: true }) as const

// A tenant.
const platform = { ...clientOf(PLATFORM_KEY), path: { workspace_id, name: 'backend' } }
await api.saveWorkspace({ ...platform, body: { requests_per_minute: 60 } })
const rights = { permissions: ['files:promote' as const, 'files:read' as const, 'containers:write' as const] }
const client = clientOf((await api.saveKey({ ...platform, body: rights })).data.token)

// A file.
const path = { container_id, file_id: `cfile_${Buffer.from('a.csv').toString('base64url')}` }
const headers = { 'Idempotency-Key': 'task-1' }
const { data: document } = await api.promoteContainerFile({ ...client, path, headers })
if (document._shape === 'native') console.log(document.filename, document.size_bytes, document.expires_at)
const found = { path: { document_id: document.id }, parseAs: 'text' } as const
console.log((await api.downloadDocument({ ...client, ...found })).data)
console.log((await api.listDocuments({ ...client, query: { limit: 10 } })).data.data.length)

// A run.
for (let next: string | null | undefined; next !== null; ) {
  const body = { paths: ['a.csv', 'b.csv', 'gone.csv'], after: next }
  const { data: page } = await api.promoteContainerFiles({ ...client, path, body })
  for (const each of page.data)
    console.log(each.outcome, each.outcome === 'refused' ? each.error.metadata.reason : each.document.id)
  next = page.next
  await sleep(1000 * (page.retry_after_seconds ?? 0))
}

// The next turn.
const restored = { files: [{ file_id: document.id }, { file_id: document.id, path: 'old/a.csv' }] }
const next = { path: { container_id: `${container_id}-r2` }, body: restored }
for (const each of (await api.restoreContainerFiles({ ...client, ...next })).data.data)
  console.log(each.outcome, each.outcome === 'refused' ? each.error.code : each.container_file.bytes)
