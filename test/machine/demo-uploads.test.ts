import { request } from 'node:http'
import { expect, it } from 'vitest'
import { formatFileId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'

/** Its pages may call the API. */
const ALLOWED = 'http://localhost:5173'
const service = useService(() => ({ changes: { CORS_ALLOWED_ORIGINS: ALLOWED } }))
const asking = () => ({
  workspace_id: service().demo.workspace_id,
  container_id: service().demo.container_id,
  path: 'in/a b.csv',
  content_type: 'text/csv',
  size_bytes: 3,
})
const ask = async (body: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(new URL('/demo/uploads', service().demo.base_url), { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as { url: string; fields: Record<string, string> } }
}

it('the page of npm start gets a form for one file, which can be promoted then', async () => {
  const { demo } = service()
  const { status, body } = await ask(JSON.stringify(asking()), { origin: new URL(demo.base_url).origin })
  expect(status).toBe(200)
  const post = (file: string, changes: Record<string, string> = {}) => {
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...body.fields, ...changes })) form.set(name, value)
    form.set('file', new Blob([file]))
    return fetch(body.url, { method: 'POST', body: form })
  }
  expect([(await post('ab')).status, (await post('abc', { key: 'x' })).status]).toEqual([400, 403])
  expect((await post('a,b')).status).toBe(204)
  const file = `${demo.base_url}/containers/${demo.container_id}/files/${formatFileId('in/a b.csv')}/promote`
  const promoted = await fetch(file, { method: 'POST', headers: { authorization: `Bearer ${demo.standard_key}` } })
  expect(await promoted.json()).toMatchObject({ filename: 'in/a b.csv', size_bytes: 3, mime_type: 'text/csv' })
})

it('lets that page upload, with a preflight if it wants to see the progress; no other', async () => {
  const { s3_endpoint, sandbox_bucket, base_url } = service().demo
  const preflight = async (origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    const { status, headers: sent } = await fetch(`${s3_endpoint}/${sandbox_bucket}`, { method: 'OPTIONS', headers })
    return [status, sent.get('access-control-allow-origin'), sent.get('access-control-allow-methods')]
  }
  const { origin } = new URL(base_url)
  expect(await preflight(origin)).toEqual([204, origin, 'GET, POST'])
  expect(await preflight('http://localhost:1')).toEqual([403, null, null])
})

it('gives no form to another page, even one that may call the API: 403', async () => {
  for (const origin of [ALLOWED, 'http://localhost:1', 'null']) {
    expect((await ask(JSON.stringify(asking()), { origin })).status).toBe(403)
  }
})

it.each<[what: string, change: object | string, said: string]>([
  ['a foreign workspace', { workspace_id: 'ws_other' }, 'no workspace of the demonstration'],
  ['a path with a dot segment', { path: 'a/../b' }, 'The path contains an empty, "." or ".." segment.'],
  ['a path that is too long', { path: 'a'.repeat(1024) }, 'too long'],
  ['no path', { path: '' }, 'It takes a short JSON object'],
  ['6 GiB', { size_bytes: 6 * 1024 ** 3 }, 'at most 5 GiB'],
  ['half a byte', { size_bytes: 0.5 }, 'at most 5 GiB'],
  ['what is no JSON', 'x', 'It takes a short JSON object'],
  ['too much', { content_type: 'x'.repeat(10_000) }, 'It takes a short JSON object'],
])('refuses %s in a sentence: 400', async (_, change, said) => {
  const body = typeof change === 'string' ? change : JSON.stringify({ ...asking(), ...change })
  expect(await ask(body)).toEqual({ status: 400, body: { detail: expect.stringContaining(said) } })
})

it('takes a GiB without needing more memory than otherwise', async () => {
  const [{ s3_endpoint, sandbox_bucket }, chunk] = [service().demo, Buffer.alloc(1024 * 1024, 'x')]
  const before = process.memoryUsage.rss()
  let most = 0
  const headers = { authorization: 'x', 'content-length': 1024 * chunk.length }
  const put = request(`${s3_endpoint}/${sandbox_bucket}/large`, { method: 'PUT', headers })
  const answered = new Promise<number | undefined>((resolve) =>
    put.on('response', (answer) => resolve(answer.statusCode)),
  )
  for (let sent = 0; sent < 1024; sent++) {
    if (!put.write(chunk)) await new Promise((resolve) => put.once('drain', resolve))
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  put.end()
  expect(await answered).toBe(200)
  expect(most / chunk.length).toBeLessThan(256)
})
