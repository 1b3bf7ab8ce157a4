import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import {
  type DocumentId,
  documentIdOfAttempt,
  type FilePath,
  newAttemptId,
  newReleaseId,
  type WorkspaceId,
} from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import type { AnyResponse } from '../support/openapi.ts'
import { COMMON_HEADERS } from '../support/promotion-answers.ts'
import { CONTAINER, createTestApi, NOW_MS, PATH } from '../support/test-api.ts'

const UNLIMITED = {
  policy: { requestsPerMinute: 60, burst: 5 },
  take: async () => ({ isAllowed: true, remaining: 4, resetMs: 1000, retryAfterMs: 0 }),
}
const RATE = { 'ratelimit-policy': '"default";q=5;w=5', ratelimit: '"default";r=4;t=1' }
const OPENAI = { 'user-agent': 'OpenAI/JS 6.49.0' }
const ANTHROPIC = { 'anthropic-version': '2026-10-21' }
const OPENROUTER = { 'user-agent': 'speakeasy-sdk/typescript 1.3.19 2.0 1.0 @openrouter/sdk' }

const newDocumentId = () => documentIdOfAttempt(newAttemptId())

let api: ReturnType<typeof createTestApi>
beforeEach(() => {
  api = createTestApi({ rateLimiter: UNLIMITED })
})

/** @param minute creation, in minutes before now */
async function record(minute: number, change: Partial<WorkspaceDocument> = {}): Promise<WorkspaceDocument> {
  const ids = { workspaceId: 'ws_1' as WorkspaceId, documentId: newDocumentId(), attemptId: newAttemptId(), ...change }
  const document = {
    ...ids,
    objectKey: `documents/${ids.workspaceId}/${ids.documentId}/${ids.attemptId}`,
    filename: PATH,
    mimeType: 'text/csv',
    sizeBytes: 8,
    createdAt: new Date(NOW_MS - minute * 60_000),
    containerId: CONTAINER,
    createdBy: 'key_1',
    ...change,
  } as WorkspaceDocument
  await api.documents.record(document, AbortSignal.timeout(1000))
  api.objects.documents.set(document.objectKey, { bytes: Buffer.alloc(8), contentType: 'text/csv' })
  return document
}
const show = (id: string, headers = {}) => api.call('retrieve_document', { parameters: { document_id: id }, headers })
const remove = (id: string, headers = {}) => api.call('delete_document', { parameters: { document_id: id }, headers })
const download = (id: string, headers = {}) =>
  api.call('download_document', { parameters: { document_id: id }, headers })
const list = (query: Record<string, string | string[]> = {}, headers = {}) =>
  api.call('list_documents', { query, headers })
const bodyOf = ({ body }: AnyResponse) =>
  body as { data: { id: string }[]; has_more: boolean; cursor: string; next_page: string; last_id: string }
const idsOf = (response: AnyResponse) => bodyOf(response).data.map(({ id }) => id)
const reasonOf = ({ body }: AnyResponse) => (body as { error: { metadata: { reason: string } } }).error.metadata.reason

describe('GET /v1/files/{id}', () => {
  it('shows the document that a promotion returned, word for word', async () => {
    const { body } = await api.promote({})
    const shown = await show((body as { id: string }).id)
    expect(shown).toEqual({ status: 200, headers: { ...COMMON_HEADERS, ...RATE }, body })
  })

  it.each([
    ['compat_a', ANTHROPIC, { _shape: 'compat_a', type: 'file', size_bytes: 8 }],
    ['compat_b', OPENAI, { _shape: 'compat_b', object: 'file', bytes: 8, purpose: 'assistants_output' }],
    ['the words of @openrouter/sdk', OPENROUTER, { _shape: 'openrouter', type: 'file', downloadable: true }],
    ['the shape it names', { ...OPENROUTER, 'file-shape': 'native' }, { _shape: 'native' }],
  ])('answers in %s', async (_, headers, expected) => {
    const { documentId } = await record(1)
    expect((await show(documentId, headers)).body).toMatchObject(expected)
  })

  it.each(['file_unknown', 'file_', 'x', '', 'file_%2e%2e', '../ws_2', `file_${'1'.repeat(5000)}`, 'file_0OIl'])(
    'is 404 for %j',
    async (id) => {
      const response = await show(id)
      expect([response.status, reasonOf(response)]).toEqual([404, 'document_not_found'])
    },
  )

  it('is 404 for a container file id, and says where that belongs', async () => {
    expect((await show('cfile_YQ')).body).toMatchObject({
      error: { metadata: { reason: 'document_not_found', detail: expect.stringContaining('/containers/') } },
    })
  })

  it("is 404 for another workspace's document, in the words for one that is not there", async () => {
    const foreign = await record(1, { workspaceId: 'ws_2' as WorkspaceId })
    const [one, other] = [await show(foreign.documentId), await show(newDocumentId())]
    expect([one.status, other.status]).toEqual([404, 404])
    const without = (response: AnyResponse) =>
      JSON.stringify(response.body).replace(/"(document|request)_id":"[^"]*"/g, '')
    expect(without(one)).toBe(without(other))
  })
})

describe('GET /v1/files', () => {
  it('lists nothing in an empty workspace', async () => {
    expect((await list()).body).toEqual({
      _shape: 'native',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
      cursor: null,
    })
  })

  it('lists by creation, oldest first, with the storage usage', async () => {
    const { body } = await api.promote({})
    const [second, first] = [await record(1), await record(2)]
    const response = await list()
    expect(idsOf(response)).toEqual([first.documentId, second.documentId, (body as { id: string }).id])
    expect(response.headers).toEqual({
      ...COMMON_HEADERS,
      ...RATE,
      'storage-quota-bytes': '1000',
      'storage-used-bytes': '8',
    })
    expect(response.body).toMatchObject({ first_id: first.documentId, has_more: false, cursor: null })
  })

  it.each([
    ['compat_a', ANTHROPIC, 20],
    ['compat_b', OPENAI, 30],
  ])('lists newest first for %s, as many as its library expects', async (shape, headers, expected) => {
    const made = []
    for (let minute = 30; minute > 0; minute--) made.push((await record(minute)).documentId)
    const response = await list({}, headers)
    expect(idsOf(response)).toEqual(made.toReversed().slice(0, expected))
    expect(response.body).toMatchObject({ _shape: shape, has_more: expected < 30, last_id: made.at(30 - expected) })
  })

  it('tells documents of the same moment apart, each once, in both orders', async () => {
    const ids = await Promise.all(Array.from({ length: 7 }, async () => (await record(3)).documentId))
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      let query: Record<string, string> = { limit: '3', order }
      for (let page = await list(query); ; page = await list(query)) {
        seen.push(...idsOf(page))
        if (!bodyOf(page).has_more) break
        expect(idsOf(page)).toHaveLength(3)
        query = { ...query, cursor: bodyOf(page).cursor }
      }
      expect(seen).toEqual(order === 'asc' ? ids.toSorted() : ids.toSorted().toReversed())
    }
  })

  it('goes on behind a document that was deleted meanwhile, by every kind of cursor', async () => {
    const made: string[] = []
    for (let minute = 6; minute > 0; minute--) {
      const reservation = await record(minute)
      made.push(reservation.documentId)
    }
    const first = await list({ limit: '2' })
    const last = bodyOf(first).last_id
    for (const id of idsOf(first)) await deleteCounted(id)
    const rest = made.slice(2)
    expect(idsOf(await list({ cursor: bodyOf(first).cursor }))).toEqual(rest)
    expect(idsOf(await list({ page: bodyOf(first).cursor }))).toEqual(rest)
    expect(idsOf(await list({ after: last }))).toEqual(rest)
    expect(idsOf(await list({ after_id: last }))).toEqual(rest)
    // @openrouter/sdk sends both.
    expect(idsOf(await list({ cursor: bodyOf(first).cursor, after: made[0] as string }))).toEqual(rest)
  })

  it('takes a cursor in whatever dialect it comes back', async () => {
    for (let minute = 5; minute > 0; minute--) await record(minute)
    const { cursor } = bodyOf(await list({ limit: '2' }))
    const { next_page } = bodyOf(await list({ limit: '2', order: 'asc' }, ANTHROPIC))
    expect(next_page).toBe(cursor)
  })

  it('is a full page as long as there is more, and says so exactly', async () => {
    for (let minute = 4; minute > 0; minute--) await record(minute)
    expect((await list({ limit: '3' })).body).toMatchObject({ has_more: true })
    expect((await list({ limit: '4' })).body).toMatchObject({ has_more: false, cursor: null })
  })

  it('lists by ids, newest first, without the unknown, the foreign and the malformed', async () => {
    const [older, newer] = [await record(2), await record(1)]
    const foreign = await record(1, { workspaceId: 'ws_2' as WorkspaceId })
    const ids = [older.documentId, newer.documentId, older.documentId, foreign.documentId, newDocumentId(), 'x', '']
    const response = await list({ 'ids[]': ids }, ANTHROPIC)
    expect(idsOf(response)).toEqual([newer.documentId, older.documentId])
    expect(response.body).toMatchObject({ has_more: false, next_page: null })
  })

  it('lists all for the purpose that all have, and none for another', async () => {
    await record(1)
    expect(idsOf(await list({ purpose: 'assistants_output' }, OPENAI))).toHaveLength(1)
    expect(idsOf(await list({ purpose: 'batch' }, OPENAI))).toEqual([])
  })

  it.each<[string, Record<string, string | string[]>, string, string]>([
    ['a limit of 0', { limit: '0' }, 'invalid_limit', '1 to 1000'],
    ['a limit above the largest', { limit: '1001' }, 'invalid_limit', '1 to 1000'],
    ['a limit that is no number', { limit: '1e2' }, 'invalid_limit', '1 to 1000'],
    ['two limits', { limit: ['1', '2'] }, 'invalid_parameter', 'limit'],
    ['an unknown order', { order: 'up' }, 'invalid_parameter', 'asc, desc'],
    ['an unknown purpose', { purpose: 'x' }, 'invalid_parameter', 'assistants_output'],
    ['an unknown document', { after: newDocumentId() }, 'invalid_cursor', 'no document'],
    ['no document id', { after: 'x' }, 'invalid_cursor', 'no document'],
    ['a made-up cursor', { cursor: 'x' }, 'invalid_cursor', 'start again'],
    ['an empty cursor', { cursor: '' }, 'invalid_cursor', 'start again'],
    ['a direction that is not offered', { before_id: 'file_1' }, 'unsupported_parameter', 'before_id'],
    ['a scope', { scope_id: 'x' }, 'unsupported_parameter', 'scope_id'],
    ['a provider', { provider: 'x' }, 'unsupported_parameter', 'provider'],
    ['ids and a limit', { 'ids[]': 'file_1', limit: '5' }, 'invalid_parameter', 'ids[]'],
    ['too many ids', { 'ids[]': Array.from({ length: 101 }, () => 'file_1') }, 'invalid_parameter', '100'],
  ])('is 400 for %s, and says what is allowed', async (_, query, reason, detail) => {
    const page = vi.spyOn(api.dependencies.listing, 'page')
    const response = await list(query)
    expect(response).toMatchObject({
      status: 400,
      body: { error: { metadata: { reason, detail: expect.stringContaining(detail) } } },
    })
    expect(page).not.toHaveBeenCalled()
  })

  it("takes no cursor of another workspace's list, and shows nothing of it", async () => {
    for (let minute = 3; minute > 0; minute--) await record(minute, { workspaceId: 'ws_2' as WorkspaceId })
    const token = api.apiKeys.add({ workspaceId: 'ws_2' as WorkspaceId, keyId: 'key_2', kind: 'management' })
    const foreign = await list({ limit: '1' }, { Authorization: `Bearer ${token}` })
    for (const query of [{ cursor: bodyOf(foreign).cursor }, { after: bodyOf(foreign).last_id }]) {
      const response = await list(query)
      expect([response.status, reasonOf(response)]).toEqual([400, 'invalid_cursor'])
    }
    expect(idsOf(await list())).toEqual([])
  })

  it('takes no cursor that was changed', async () => {
    for (let minute = 3; minute > 0; minute--) await record(minute)
    const { cursor } = bodyOf(await list({ limit: '1' }))
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
      expect((await list({ cursor: changed })).status, String(at)).toBe(400)
    }
  })

  it('reads more than 10,000 as what it serves, for the library that asks for so many', async () => {
    expect((await list({ limit: '10000' }, OPENAI)).status).toBe(200)
    expect((await list({ limit: '10001' }, OPENAI)).status).toBe(400)
  })

  it('does without the usage when it cannot be read', async () => {
    await record(1)
    vi.spyOn(api.ledger, 'usage').mockRejectedValue(new ServiceError('service_unavailable'))
    const response = await list()
    expect(response.status).toBe(200)
    expect(response.headers).not.toHaveProperty('storage-used-bytes')
  })
})

describe('GET /v1/files/{id}/content', () => {
  it('redirects to a presigned URL of the object, an attachment of its type and name, and says until when', async () => {
    const document = await record(1)
    const response = await download(document.documentId)
    expect(response).toMatchObject({
      status: 302,
      headers: { 'cache-control': 'no-store', vary: `${COMMON_HEADERS.vary}, Accept` },
      body: { url: response.headers.location, expires_at: new Date(NOW_MS + 120_000).toISOString() },
    })
    const url = new URL(response.headers.location ?? '')
    expect([url.hostname, url.pathname]).toEqual(['documents.example', `/${document.objectKey}`])
    expect(url.searchParams.get('type')).toBe('text/csv')
    expect(url.searchParams.get('disposition')).toBe(`attachment; filename="report.csv"; filename*=UTF-8''report.csv`)
  })

  it('gives each of many at once its own object, type and name, for one caller and for several', async () => {
    const token = api.apiKeys.add({ workspaceId: 'ws_2' as WorkspaceId, kind: 'management', keyId: 'key_2' })
    const types = ['text/csv', 'text/html', 'application/pdf', 'image/png']
    const documents = await Promise.all(
      types.map((mimeType, index) => {
        const workspaceId = (index % 2 === 0 ? 'ws_1' : 'ws_2') as WorkspaceId
        return record(index, { workspaceId, mimeType, filename: `output/${index}.bin` as FilePath })
      }),
    )
    const signed = await Promise.all(
      documents.map(async ({ workspaceId, documentId }) => {
        const { headers } = await download(
          documentId,
          workspaceId === 'ws_2' ? { Authorization: `Bearer ${token}` } : {},
        )
        const { pathname, searchParams } = new URL(headers.location ?? '')
        return [pathname, searchParams.get('type'), searchParams.get('disposition')?.slice(0, 28)]
      }),
    )
    expect(signed).toEqual(
      documents.map(({ objectKey, mimeType }, index) => [
        `/${objectKey}`,
        mimeType,
        `attachment; filename="${index}.bin"`.slice(0, 28),
      ]),
    )
  })

  it('says application/octet-stream to whoever accepts nothing else', async () => {
    const { documentId } = await record(1)
    const { headers } = await download(documentId, { accept: 'application/octet-stream' })
    expect(new URL(headers.location ?? '').searchParams.get('type')).toBe('application/octet-stream')
  })

  it.each([undefined, 'text/html\r\nx-evil: 1', 'x', `text/${'x'.repeat(300)}`])(
    'says application/octet-stream instead of the type %j',
    async (mimeType) => {
      const { documentId } = await record(1, { mimeType: mimeType as string })
      const { headers } = await download(documentId)
      expect(new URL(headers.location ?? '').searchParams.get('type')).toBe('application/octet-stream')
    },
  )

  it.each([
    [
      'is archived',
      'archive storage',
      (key: string) =>
        api.objects.documents.set(key, { bytes: Buffer.alloc(8), contentType: undefined, storageClass: 'GLACIER' }),
    ],
    ['is lost', 'lost', (key: string) => api.objects.documents.delete(key)],
  ])('is our 404 when the content %s', async (_, detail, change) => {
    const { documentId, objectKey } = await record(1)
    change(objectKey)
    const response = await download(documentId)
    expect(response).toMatchObject({
      status: 404,
      body: { error: { metadata: { reason: 'file_not_downloadable', detail: expect.stringContaining(detail) } } },
    })
    expect(api.logged.some(({ level }) => level === 'error')).toBe(detail === 'lost')
  })

  it('is a plain 404 when the document is deleted between the two looks', async () => {
    const document = await record(1)
    vi.spyOn(api.objects, 'findDocumentObject').mockImplementation(async () => {
      api.documents.documents.clear()
      return undefined
    })
    expect(reasonOf(await download(document.documentId))).toBe('document_not_found')
    expect(api.logged.some(({ level }) => level === 'error')).toBe(false)
  })

  it("is 404 for another workspace's document, and signs nothing", async () => {
    const sign = vi.spyOn(api.dependencies.downloads, 'signDocument')
    const foreign = await record(1, { workspaceId: 'ws_2' as WorkspaceId })
    expect((await download(foreign.documentId)).status).toBe(404)
    expect(sign).not.toHaveBeenCalled()
  })
})

describe('DELETE /v1/files/{id}', () => {
  it.each([
    ['native', {}, { _shape: 'native', type: 'file_deleted' }],
    ['compat_a', ANTHROPIC, { _shape: 'compat_a', type: 'file_deleted' }],
    ['compat_b', OPENAI, { _shape: 'compat_b', object: 'file', deleted: true }],
    ['the words of @openrouter/sdk', OPENROUTER, { _shape: 'openrouter', type: 'file_deleted' }],
  ])('deletes record and object, gives the bytes back, and says so in %s', async (_, headers, expected) => {
    const { body } = await api.promote({})
    const { id } = body as { id: string }
    const response = await remove(id, headers)
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ id, ...expected })
    expect(response.headers).toMatchObject({ 'storage-quota-bytes': '1000', 'storage-used-bytes': '0' })
    expect([api.documents.documents.size, api.objects.documents.size]).toEqual([0, 0])
    expect((await show(id)).status).toBe(404)
    expect(idsOf(await list())).toEqual([])
  })

  it('is 200 again as long as the deletion is remembered, and counts it once', async () => {
    const { body } = await api.promote({})
    const { id } = body as { id: string }
    const answers = [await remove(id), await remove(id), await remove(id)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(answers.map(({ headers }) => headers['storage-used-bytes'])).toEqual(['0', '0', '0'])
    expect(api.published.filter((values) => 'Deletions' in values)).toEqual([{ Deletions: 1, DeletedBytes: 8 }])
  })

  it('frees room for the next promotion at once', async () => {
    api.putFile('big.bin', Buffer.alloc(500))
    const ids = []
    for (let i = 0; i < 2; i++) ids.push(((await api.promote({ path: 'big.bin' })).body as { id: string }).id)
    expect((await api.promote({ path: 'big.bin' })).status).toBe(403)
    await remove(ids[0] as string)
    expect((await api.promote({ path: 'big.bin' })).status).toBe(200)
  })

  it("is 404 for what was never there, is malformed, or is another workspace's", async () => {
    const foreign = await record(1, { workspaceId: 'ws_2' as WorkspaceId })
    for (const id of [newDocumentId(), 'x', foreign.documentId]) {
      const response = await remove(id)
      expect([response.status, reasonOf(response)]).toEqual([404, 'document_not_found'])
    }
    expect(api.documents.documents.size).toBe(1)
  })

  it('writes nothing for a key above its rate limit', async () => {
    const refusing = {
      ...UNLIMITED,
      take: async () => ({ isAllowed: false, remaining: 0, resetMs: 1, retryAfterMs: 1 }),
    }
    const { documentId } = await record(1)
    const limited = createTestApi({ rateLimiter: refusing, documents: api.documents, ledger: api.ledger })
    const parameters = { document_id: documentId as string }
    expect((await limited.call('delete_document', { parameters })).status).toBe(429)
    expect(api.documents.documents.size).toBe(1)
  })
})

/** Deletes a document that was recorded without a reservation of its bytes. */
async function deleteCounted(id: string): Promise<void> {
  const document = api.documents.documents.get(`ws_1/${id}`) as WorkspaceDocument
  const deletion = { ...document, releaseId: newReleaseId(), purpose: 'deletion', leaseExpiresAtMs: 0 } as const
  await api.documents.retire(deletion, AbortSignal.timeout(1000))
  expect(await api.documents.find('ws_1' as WorkspaceId, id as DocumentId, AbortSignal.timeout(1000))).toBeUndefined()
}
