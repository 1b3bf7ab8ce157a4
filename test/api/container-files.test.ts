import { describe, expect, it } from 'vitest'
import { formatKeyCursor } from '../../lib/containers/key-cursor.ts'
import { formatFileId } from '../../lib/ids.ts'
import { pathsOf } from '../support/api/documents-api.ts'
import { refusalOf } from '../support/api/promotion-answers.ts'
import { ANTHROPIC, CONTAINER, CSV, FOREIGN, OPENAI, PATH, UNLIMITED, useTestApi } from '../support/api/test-api.ts'

const api = useTestApi({ rateLimiter: UNLIMITED })

const list = (query: Record<string, string> = {}, headers = {}, containerId = CONTAINER) =>
  api.call('list_container_files', { containerId, query, headers })
const ETAG = '"e5ebd4c02cefbe7955977c67ada242b7"'
const FILE = {
  id: formatFileId(PATH),
  object: 'container.file',
  container_id: CONTAINER,
  path: PATH,
  bytes: CSV.length,
  created_at: Date.parse('2026-11-21T09:38:35Z') / 1000,
  source: 'assistant',
}

describe('GET /v1/containers/{c}/files', () => {
  it.each([
    ['native', {}, { etag: ETAG }],
    ['compat_a', ANTHROPIC, {}],
    ['compat_b', OPENAI, {}],
  ])('lists the files in the one shape there is, in %s, too', async (_, headers, more) => {
    const { status, body } = await list({}, headers)
    const page = { object: 'list', data: [{ ...FILE, ...more }], first_id: FILE.id, last_id: FILE.id, has_more: false }
    expect([status, body]).toEqual([200, page])
  })

  it('takes a cursor of another workspace as a place among its own files', async () => {
    api.putFile('a.txt', CSV)
    const after = formatKeyCursor('sandboxes/ws_2/sess_2/', 'sandboxes/ws_2/sess_2/b/')
    expect(pathsOf(await list({ after }))).toEqual([PATH])
  })

  it('pages by 20 for the library that expects it, by 100 for others', async () => {
    for (let i = 0; i < 120; i++) api.putFile(`f${String(i).padStart(3, '0')}`, CSV)
    expect(pathsOf(await list({}, OPENAI))).toHaveLength(20)
    expect(pathsOf(await list())).toHaveLength(100)
  })

  it("is an empty list for a container that nobody knows, and for another workspace's", async () => {
    api.putFile(PATH, CSV, 'text/csv', FOREIGN, 'sess_2')
    for (const container of ['unknown', 'sess_2']) {
      const { body } = await list({}, {}, container)
      expect(body).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false })
    }
  })

  it.each<[string, Record<string, string>, string, string?]>([
    ['what is no container id', {}, 'invalid_container_id', '../ws_2/sess_2'],
    ['a limit above 1,000', { limit: '1001' }, 'invalid_limit'],
    ['a malformed id', { after: 'cfile_' }, 'invalid_file_id'],
    ['a document id', { after: 'file_1' }, 'invalid_file_id'],
    ['a broken cursor', { after: 'cursor_+' }, 'invalid_cursor'],
    ['a path out of the container', { after: formatFileId('../x') }, 'invalid_file_id'],
  ])('is 400 for %s', async (_, query, reason, container) => {
    expect(refusalOf(await list(query, {}, container))).toEqual([400, reason])
  })

  it('is 400 for an order that is not offered, and says which is', async () => {
    const response = await list({ order: 'desc' })
    const detail = expect.stringContaining('only asc is allowed.')
    const metadata = { reason: 'unsupported_parameter', parameter: 'order', detail }
    expect(response).toMatchObject({ status: 400, body: { error: { metadata } } })
  })
})

it('GET /v1/containers/{c}/files/{f} shows a file, archived or not', async () => {
  const { headers, body } = await api.call('retrieve_container_file')
  expect([headers.etag, body]).toEqual([ETAG, FILE])
  api.putFile(PATH, CSV, { contentType: 'text/csv', storageClass: 'GLACIER' })
  expect((await api.call('retrieve_container_file')).body).toEqual(FILE)
})

describe('GET /v1/containers/{c}/files/{f}/content', () => {
  it('redirects to a presigned URL of the object, and says until when', async () => {
    const { status, headers, body } = await api.call('download_container_file')
    expect([status, body]).toMatchObject([302, { expires_at: '2026-11-21T09:40:35.000Z' }])
    const url = new URL(headers.location ?? '')
    expect(url.host + url.pathname).toBe(`s3.us-east-1.amazonaws.com/sandboxes/sandboxes/ws_1/${CONTAINER}/${PATH}`)
    expect(url.searchParams.get('response-content-type')).toBe('text/csv')
  })

  it.each(['', 'gzip'])(
    'tells the type by the extension when none is stored, and the encodings %j',
    async (encodings) => {
      api.putFile('a.pdf', CSV, { contentEncoding: encodings })
      const { headers } = await api.call('download_container_file', { path: 'a.pdf' })
      const signed = new URL(headers.location ?? '').searchParams
      expect(signed.get('response-content-type')).toBe('application/pdf')
      expect(signed.get('response-content-encoding')).toBe(encodings || 'identity')
    },
  )

  it.each([
    ['missing.txt', CONTAINER, 404, 'container_file_not_found'],
    [PATH, 'sess_2', 404, 'container_not_found'],
    ['old.bin', CONTAINER, 404, 'container_file_archived'],
    ['../x', CONTAINER, 400, 'invalid_file_id'],
  ])('for %s in %s is %i %s, without a URL', async (path, containerId, status, reason) => {
    api.putFile(PATH, CSV, 'text/csv', FOREIGN, 'sess_2')
    api.putFile('old.bin', CSV, { storageClass: 'GLACIER' })
    const response = await api.call('download_container_file', { path, containerId })
    expect(refusalOf(response)).toEqual([status, reason])
    expect(response.headers).not.toHaveProperty('location')
  })
})
