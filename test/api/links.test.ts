import { describe, expect, it, vi } from 'vitest'
import { eraseWorkspace } from '../../lib/administration/erase-workspace.ts'
import { newLinkToken } from '../../lib/auth/link-token.ts'
import type { Attributes } from '../../lib/aws/dynamodb/codec.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { ApiEvent } from '../../lib/http/request-state.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import { useDocumentsApi } from '../support/api/documents-api.ts'
import { invoke } from '../support/api/invoke.ts'
import { addLink } from '../support/api/links.ts'
import { OPERATION_NAMES, OPERATIONS } from '../support/api/operations.ts'
import { reasonOf } from '../support/api/promotion-answers.ts'
import { lambdaContext, routeEvent } from '../support/api/rest-event.ts'
import { DOCUMENTS_TABLE, KEYS_TABLE } from '../support/dynamodb/memory-tables.ts'

const { api, record, remove, setClock } = useDocumentsApi()
const { signal } = new AbortController()
const WS_1 = { workspace_id: 'ws_1' }
type Made = { id: string; url: string; expires_at: string }

const share = async (document_id: string, body: object = {}) =>
  api.call('create_link', { parameters: { document_id }, body })
async function shared(change: Parameters<typeof record>[1] = {}, body: object = {}) {
  const document = await record(1, change)
  const { body: link } = (await share(document.documentId, body)) as { body: Made }
  return { document, link, token: link.url.replace('https://files.example/l/', '') }
}
const eventOf = (token: string, method = 'get', headers = {}) =>
  routeEvent({ method: method as 'get', path: '/l/{token}' }, { parameters: { token }, headers })
const open = (token: string) =>
  invoke(api.handlers['open-link'], { event: eventOf(token), operation: { method: 'get', path: '/l/{token}' } })
const openWith = (token: string, method: string, headers = {}) =>
  api.handlers['open-link'](eventOf(token, method, headers) as ApiEvent, lambdaContext())
const changeDocument = (change: Attributes) => api.stored.change(DOCUMENTS_TABLE, (item) => Object.assign(item, change))
const queryOf = (location = '') => Object.fromEntries(new URL(location).searchParams)

describe('a link', () => {
  it('is a short address that opens the document without a key, as an attachment, for a week', async () => {
    const { document, link, token } = await shared()
    expect(link).toEqual({
      id: expect.stringMatching(/^link_\w{11}$/),
      file_id: document.documentId,
      url: `https://files.example/l/${token}`,
      disposition: 'attachment',
      created_at: '2026-11-21T09:38:35.556Z',
      expires_at: '2026-11-28T09:38:35.000Z',
      created_by: expect.stringMatching(/^key_/),
    })
    expect(token).toMatch(/^cfl_[0-9A-Za-z]{44}$/)
    // As long as 128 bits are, however they begin.
    const firsts = await Promise.all(Array.from({ length: 30 }, async () => (await shared()).token.at(-20)))
    expect(new Set(firsts).size).toBeGreaterThan(9)
    const [stored] = api.stored.attributes(KEYS_TABLE).filter(({ key_id }) => key_id?.S === link.id)
    expect(stored?.ttl_at).toEqual({ N: String(Date.parse(link.expires_at) / 1000) })
    const { status, headers } = await open(token)
    const common = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }
    expect([status, headers]).toMatchObject([302, common])
    expect(new URL(headers.location ?? '').pathname).toBe(`/documents/${document.objectKey}`)
    expect(queryOf(headers.location)).toMatchObject({
      'response-content-type': 'text/csv',
      'response-content-disposition': `attachment; filename="report.csv"; filename*=UTF-8''report.csv`,
      'X-Amz-Expires': '120',
    })
    expect((await open(token)).status).toBe(302)
    const film = await shared({ mimeType: 'video/mp4' })
    expect(queryOf((await open(film.token)).headers.location)['X-Amz-Expires']).toBe('120')
  })

  it('is stored, logged and counted nowhere: only its hash and its id are', async () => {
    const { link, token } = await shared()
    await open(token)
    await openWith(token, 'GET', { accept: 'text/html' })
    await open(`${token.slice(0, -1)}0`)
    const told = JSON.stringify([api.stored.attributes(KEYS_TABLE), api.logged, api.published])
    expect(told).not.toContain(token.slice(-22))
    expect(told).toContain(link.id)
    expect(api.logged.at(-3)).toMatchObject({ operation: 'open_link', status: 302, link_id: link.id })
  })

  it('opens with whatever is behind it in texts', async () => {
    const { token } = await shared()
    for (const more of ['.', ')', '>', '%3E', '"', ',', '?utm_source=chat', '&x', '/', '\u200b', '…', '*_'])
      expect((await open(token + more)).status, more).toBe(302)
  })

  it('tells type and length to HEAD, and does not redirect it', async () => {
    const { token, document } = await shared()
    const answer = await openWith(token, 'head')
    const headers = { 'content-type': 'text/csv', 'content-length': `${document.sizeBytes}`, 'x-robots-tag': 'noindex' }
    expect(answer).toMatchObject({ statusCode: 200, body: '', headers })
    expect(answer.headers).not.toHaveProperty('location')
    const inline = await openWith((await shared({}, { disposition: 'inline' })).token, 'head')
    expect(inline.headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8' })
  })

  it('ends with its document at the latest', async () => {
    const expiresAt = new Date('2026-11-22T00:00:00Z')
    const { link, token } = await shared({ expiresAt, mimeType: 'video/mp4' }, { disposition: 'inline' })
    expect(link.expires_at).toBe(expiresAt.toISOString())
    // An operator lets it end earlier.
    await changeDocument({ due_at: { N: `${Date.parse('2026-11-21T09:38:45Z')}` } })
    expect(queryOf((await open(token)).headers.location)['X-Amz-Expires']).toBe('10')
  })

  it('goes on without the key that made it, until all that the key made is taken back', async () => {
    const { token } = await shared()
    const { createdBy = '' } = (await api.ports.links.find(token, signal)) ?? {}
    await api.ports.keyAdministration.remove(createdBy, signal)
    expect((await open(token)).status).toBe(302)
    expect(await api.ports.links.removeAll({ createdBy }, signal)).toBe(1)
    expect((await open(token)).status).toBe(404)
  })
})

/** Goes on with the erasure of a workspace without objects. */
function erase(workspaceId: WorkspaceId, change = {}) {
  const { ports } = api
  const erasedObjects = { erase: async () => ({ erased: 0, refused: 0 }) }
  const deps = { ...ports, apiKeys: ports.keyAdministration, erasedObjects, bus: undefined, ...change }
  return eraseWorkspace(workspaceId, deps, signal)
}

describe('one answer for all that is not there', () => {
  type Shared = Awaited<ReturnType<typeof shared>>
  const LEFT: [string, (shared: Shared) => Promise<unknown> | unknown][] = [
    ['never made', ({ token }) => `${token.slice(0, 20)}${'A'.repeat(28)}`],
    ['of the same id, with another secret', ({ token }) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['cut off', ({ token }) => token.slice(0, -1)],
    ['a key', () => api.managementToken],
    ['empty', () => ''],
    ['taken back', takeBack],
    ['over', ({ link }) => setClock(Date.parse(link.expires_at))],
    ['to a deleted document', ({ document }) => remove(document.documentId)],
    ['to one that has lost its content', ({ document }) => api.objects.documents.delete(document.objectKey)],
    ['to an id that is another document now', () => changeDocument({ attempt_id: { S: 'another' } })],
    ['of a disabled workspace', () => api.call('save_workspace', { parameters: WS_1, body: { disabled: true } })],
    ['of a workspace whose erasure has begun', beginErasure],
  ]

  async function takeBack({ document, link }: Shared) {
    const parameters = { document_id: document.documentId, link_id: link.id }
    expect((await api.call('delete_link', { parameters })).body).toMatchObject({ id: link.id, deleted: true })
    expect(reasonOf(await api.call('delete_link', { parameters }))).toBe('link_not_found')
  }

  async function beginErasure({ document: { workspaceId } }: Shared) {
    await api.call('save_erasure', { parameters: WS_1, body: {} })
    const failing = { removeAll: () => Promise.reject(new Error('not now')) }
    await expect(erase(workspaceId, { apiKeys: failing })).rejects.toThrow('not now')
  }

  it.each(LEFT)('%s', async (_, leave) => {
    const made = await shared()
    expect((await open(made.token)).status).toBe(302)
    const left = await leave(made)
    const { status, body } = await open(typeof left === 'string' ? left : made.token)
    const metadata = { reason: 'link_not_found', detail: 'There is no such link.' }
    const error = { code: 404, message: 'Resource not found', metadata }
    expect([status, (body as { error: object }).error]).toEqual([404, error])
  })

  it('and an erasure takes all links along, also one that was under way: it looks again', async () => {
    const { document, link } = await shared()
    const { workspaceId } = document
    const isLink = ({ owner_hash }: Attributes) => owner_hash?.S?.startsWith('links_') ?? false
    // One that nobody can read any more.
    await api.stored.change(KEYS_TABLE, (item) => delete item.workspace_id, isLink)
    await api.call('save_erasure', { parameters: WS_1, body: {} })
    expect((await erase(workspaceId))?.state).toBe('verifying')
    const { token, linkId } = newLinkToken(document)
    const late = { ...document, linkId, disposition: 'inline', createdBy: link.id, expiresAt: new Date(8e12) } as const
    for (const state of ['verifying', 'erased']) {
      api.clock.nowMs += 21 * 60_000
      if (state === 'verifying') await api.ports.links.add(late, token, signal)
      expect((await erase(workspaceId))?.state).toBe(state)
    }
    expect(api.stored.attributes(KEYS_TABLE).filter(isLink)).toEqual([])
  })

  it('in a browser, a page without a script', async () => {
    const answer = await openWith('<script>alert(1)</script>', 'GET', { Accept: 'text/html,*/*;q=0.8' })
    const headers = { 'content-type': 'text/html; charset=utf-8', vary: expect.stringContaining('Accept') }
    expect(answer).toMatchObject({ statusCode: 404, headers })
    expect(answer.body).toContain('<p>There is no such link.')
    expect(answer.body).not.toMatch(/script|style|http|alert/)
    expect(answer.headers?.['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'")
  })

  it('but a store that does not answer is 503, which is worth repeating', async () => {
    const { token } = await shared()
    vi.spyOn(api.dependencies.documents, 'find').mockRejectedValueOnce(new ServiceError('service_unavailable'))
    expect(await open(token)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })
})

describe('what a browser shows', () => {
  const TEXT = 'text/plain; charset=utf-8'
  const NEVER_SHOWN =
    'text/html image/svg+xml text/xml application/xml application/xhtml+xml application/rss+xml image/png+xml text ' +
    'application/octet-stream text/css text/javascript multipart/x-mixed-replace'

  it.each([
    ['image/png', 'image/png'],
    ['IMAGE/JPEG; x=1', 'image/jpeg'],
    ['application/pdf', 'application/pdf'],
    ['video/mp4', 'video/mp4'],
    ['text/plain', TEXT],
    ['text/csv; charset=utf-16', TEXT],
    ['text/markdown', TEXT],
    ['application/json', TEXT],
  ])('%s is shown as %s', async (mimeType, shown) => {
    const { token } = await shared({ mimeType }, { disposition: 'inline' })
    const query = queryOf((await open(token)).headers.location)
    expect(query['response-content-type']).toBe(shown)
    expect(query['response-content-disposition']).toMatch(/^inline; filename="report.csv"/)
    // Players come back for other parts.
    expect(query['X-Amz-Expires']).toBe(mimeType.startsWith('video') ? '3600' : '120')
  })

  it.each(NEVER_SHOWN.split(' '))('%s never is', async (mimeType) => {
    const { documentId } = await record(1, { mimeType })
    expect(reasonOf(await share(documentId, { disposition: 'inline' }))).toBe('inline_not_allowed')
    expect((await share(documentId)).status).toBe(200)
  })

  it('a film is played no longer than its link lasts', async () => {
    const { token } = await shared({ mimeType: 'video/mp4' }, { disposition: 'inline', expires_in_seconds: 600 })
    api.clock.nowMs += 60_000
    expect(queryOf((await open(token)).headers.location)['X-Amz-Expires']).toBe('540')
  })
})

describe('the links of a document', () => {
  it('are listed without their addresses, oldest first, those that have ended left out', async () => {
    const { document, link: first } = await shared({}, { expires_in_seconds: 60 })
    api.clock.nowMs += 1000
    const { body: second } = (await share(document.documentId)) as { body: Made }
    const parameters = { document_id: document.documentId }
    const idsIn = async () => ((await api.call('list_links', { parameters })).body as { data: Made[] }).data
    expect((await idsIn()).map(({ id }) => id)).toEqual([first.id, second.id])
    api.clock.nowMs += 60_000
    expect(await idsIn()).toEqual([{ ...second, url: undefined }])
  })

  it('are a hundred at most, of those that live: others do not stay for the next one to be told from', async () => {
    const { document } = await shared({}, { expires_in_seconds: 60 })
    for (let i = 1; i < 100; i++) await addLink(api)
    expect(reasonOf(await share(document.documentId))).toBe('too_many_links')
    api.clock.nowMs += 60_000
    expect((await share(document.documentId)).status).toBe(200)
    expect(api.stored.attributes(KEYS_TABLE).filter(({ ttl_at }) => ttl_at)).toHaveLength(100)
  })

  it('are taken back by id or by what their addresses end in, which no log gets', async () => {
    const { document, token } = await shared()
    const parameters = { document_id: document.documentId, link_id: token }
    expect((await api.call('delete_link', { parameters })).status).toBe(200)
    expect((await open(token)).status).toBe(404)
    await api.call('delete_link', { parameters: { ...parameters, link_id: `x${token}` } })
    expect(JSON.stringify(api.logged)).not.toContain(token.slice(-22))
  })

  it('last a year at most', async () => {
    const { document, link } = await shared({}, { expires_in_seconds: 31_536_000 })
    expect(link.expires_at).toBe('2027-11-21T09:38:35.000Z')
    expect(reasonOf(await share(document.documentId, { expires_in_seconds: 31_536_001 }))).toBe('invalid_body')
  })

  it('are those of the workspace alone: another one makes, lists and deletes none', async () => {
    const { document, link, token } = await shared()
    const parameters = { document_id: document.documentId, link_id: link.id }
    for (const name of ['create_link', 'list_links', 'delete_link'] as const)
      expect((await api.call(name, { parameters, token: api.foreignToken })).status).toBe(404)
    const other = { document_id: 'file_1', link_id: link.id }
    expect((await api.call('delete_link', { parameters: other })).status).toBe(404)
    expect((await open(token)).status).toBe(302)
  })
})

it.each(OPERATION_NAMES)('a link is no key: 401 for %s', async (name) => {
  const { token, document } = await shared()
  const parameters = { document_id: document.documentId }
  const before = api.stored.attributes(DOCUMENTS_TABLE)
  const response = await api.call(name, { parameters, token })
  expect([response.status, reasonOf(response)]).toEqual([401, 'invalid_api_key'])
  expect(api.stored.attributes(DOCUMENTS_TABLE)).toEqual(before)
  expect(OPERATIONS[name].path).not.toContain('/l/')
})
