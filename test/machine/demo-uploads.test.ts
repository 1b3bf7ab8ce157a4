import { request } from 'node:http'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'

/** An origin whose pages may call the API, but not upload. */
const ALLOWED = 'http://localhost:5173'
const service = useService(() => ({ changes: { CORS_ALLOWED_ORIGINS: ALLOWED } }))
const put = (change: Record<string, string> = {}, headers: Record<string, string> = {}) => {
  const { workspace_id, container_id, base_url } = service().demo
  const query = new URLSearchParams({ workspace_id, container_id, path: 'in/a b.csv', ...change })
  return fetch(new URL(`/demo/uploads?${query}`, base_url), { method: 'PUT', headers, body: 'a,b' })
}

it('the page of npm start puts a file, which can be promoted then', async () => {
  const { demo } = service()
  const { origin } = new URL(demo.base_url)
  expect((await put({}, { origin, 'content-type': 'text/csv' })).status).toBe(200)
  const file = `${demo.base_url}/containers/${demo.container_id}/files/${formatFileId('in/a b.csv')}/promote`
  const promoted = await fetch(file, { method: 'POST', headers: { authorization: `Bearer ${demo.standard_key}` } })
  expect(await promoted.json()).toMatchObject({ filename: 'in/a b.csv', size_bytes: 3, mime_type: 'text/csv' })
})

it.each([ALLOWED, 'http://localhost:1', 'null'])('takes none from a page of %s: 403', async (origin) => {
  expect((await put({}, { origin })).status).toBe(403)
})

it.each<[what: string, change: Record<string, string>, said: string]>([
  ['a foreign workspace', { workspace_id: 'ws_other' }, 'no workspace of the demonstration'],
  ['a path with a dot segment', { path: 'a/../b' }, 'The path contains an empty, "." or ".." segment.'],
  ['a path that is too long', { path: 'a'.repeat(1024) }, 'too long'],
])('refuses %s in a sentence: 400', async (_, change, said) => {
  const answer = await put(change)
  expect([answer.status, await answer.json()]).toEqual([400, { detail: expect.stringContaining(said) }])
})

it('takes 512 MiB in less memory than half of them', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  const object = { Bucket: service().demo.sandbox_bucket, Key: 'large' }
  const url = await getSignedUrl(service().s3, new PutObjectCommand(object))
  const before = process.memoryUsage.rss()
  let most = 0
  const put = request(url, { method: 'PUT', headers: { 'content-length': 512 * chunk.length } })
  const answered = new Promise<number | undefined>((resolve) =>
    put.on('response', (answer) => resolve(answer.statusCode)),
  )
  for (let sent = 0; sent < 512; sent++) {
    if (!put.write(chunk)) await new Promise((resolve) => put.once('drain', resolve))
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  put.end()
  expect(await answered).toBe(200)
  expect(most / chunk.length).toBeLessThan(256)
})
