import { request } from 'node:http'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { describe, expect, it } from 'vitest'
import { EXPOSED_HEADERS } from '../../lib/http/headers.ts'
import { formatFileId } from '../../lib/ids.ts'
import { useService } from '../support/machine/services.ts'

const ALLOWED = 'http://localhost:5173'
/** The same machine at another port is another origin. */
const FOREIGN = 'http://localhost:5174'
const service = useService(() => ({ changes: { CORS_ALLOWED_ORIGINS: `https://app.example.com,${ALLOWED}` } }))

const promotion = () =>
  `${service().demo.base_url}/containers/${service().demo.container_id}/files/${service().demo.files[0]?.file_id}/promote`
const corsHeadersOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control')))

describe('CORS at the local gateway', () => {
  it('answers a preflight itself, and refuses that of any other origin', async () => {
    const ask = (origin: string) => fetch(promotion(), { method: 'OPTIONS', headers: { origin } })
    const [known, unknown] = [await ask(ALLOWED), await ask(FOREIGN)]
    expect([known.status, unknown.status]).toEqual([204, 403])
    expect(corsHeadersOf(known)).toMatchObject({
      'access-control-allow-origin': ALLOWED,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringMatching(/^Authorization, .*\bIdempotency-Key\b/),
    })
    expect(corsHeadersOf(known)).not.toHaveProperty('access-control-allow-credentials')
    expect(known.headers.get('vary')).toBe('Origin')
    const elsewhere = await fetch(new URL('/nothing', promotion()), { method: 'OPTIONS', headers: { origin: ALLOWED } })
    expect(elsewhere.status).toBe(404)
  })

  it("lets the origin read a function's answers, and everybody the gateway's own", async () => {
    const ask = (method: string, origin: string) => fetch(promotion(), { method, headers: { origin } })
    const answer = await ask('POST', ALLOWED)
    expect(corsHeadersOf(answer)).toEqual({
      'access-control-allow-origin': ALLOWED,
      'access-control-expose-headers': EXPOSED_HEADERS,
    })
    expect(answer.headers.get('vary')).toContain(', Origin')
    const wrongMethod = await ask('PUT', ALLOWED)
    expect(wrongMethod.headers.get('allow')).toBe('OPTIONS, POST')
    const refused = await ask('POST', FOREIGN)
    expect(await refused.json()).toMatchObject({ error: { code: 403, metadata: { reason: 'request_blocked' } } })
    for (const own of [wrongMethod, refused]) {
      expect(corsHeadersOf(own)['access-control-allow-origin']).toBe('*')
    }
  })
})

describe('uploads of the page of npm start', () => {
  const put = (change: Record<string, string> = {}, headers: Record<string, string> = {}) => {
    const { workspace_id, container_id, base_url } = service().demo
    const query = new URLSearchParams({ workspace_id, container_id, path: 'in/a b.csv', ...change })
    return fetch(new URL(`/demo/uploads?${query}`, base_url), { method: 'PUT', headers, body: 'a,b' })
  }

  it('put a file, which can be promoted then', async () => {
    const { demo } = service()
    const { origin } = new URL(demo.base_url)
    expect((await put({}, { origin, 'content-type': 'text/csv' })).status).toBe(200)
    const file = `/containers/${demo.container_id}/files/${formatFileId('in/a b.csv')}`
    const { body } = await service().ask('POST', `${file}/promote`)
    expect(body).toMatchObject({ filename: 'in/a b.csv', size_bytes: 3, mime_type: 'text/csv' })
  })

  // Pages of ALLOWED may call the API, but not upload.
  it.each([ALLOWED, FOREIGN, 'null'])('are not taken from a page of %s: 403', async (origin) => {
    expect((await put({}, { origin })).status).toBe(403)
  })

  it.each<[what: string, change: Record<string, string>, said: string]>([
    ['a foreign workspace', { workspace_id: 'ws_other' }, 'no workspace of the demonstration'],
    ['a path with a dot segment', { path: 'a/../b' }, 'The path contains an empty, "." or ".." segment.'],
    ['a path that is too long', { path: 'a'.repeat(1024) }, 'too long'],
  ])('are refused in a sentence: %s, 400', async (_, change, said) => {
    const answer = await put(change)
    expect([answer.status, await answer.json()]).toEqual([400, { detail: expect.stringContaining(said) }])
  })
})

it('S3 takes 256 MiB in less memory than half of them', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  const object = { Bucket: service().demo.sandbox_bucket, Key: 'large' }
  const url = await getSignedUrl(service().s3, new PutObjectCommand(object))
  const before = process.memoryUsage.rss()
  let most = 0
  const put = request(url, { method: 'PUT', headers: { 'content-length': 256 * chunk.length } })
  const answered = new Promise<number | undefined>((resolve) =>
    put.on('response', (answer) => resolve(answer.statusCode)),
  )
  for (let sent = 0; sent < 256; sent++) {
    if (!put.write(chunk)) await new Promise((resolve) => put.once('drain', resolve))
    most = Math.max(most, process.memoryUsage.rss() - before)
  }
  put.end()
  expect(await answered).toBe(200)
  expect(most / chunk.length).toBeLessThan(128)
})
