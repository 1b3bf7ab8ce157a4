import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../lib/errors.ts'
import type { ContainerId } from '../../lib/ids.ts'
import type { WorkspaceDocument } from '../../lib/ledger/ports/documents.ts'
import { bodyOf, idsOf, newDocumentId, useDocumentsApi } from '../support/api/documents-api.ts'
import { COMMON_HEADERS, idOf, refusalOf, UNLIMITED_HEADERS } from '../support/api/promotion-answers.ts'
import { ANTHROPIC, CONTAINER, FOREIGN, OPENAI } from '../support/api/test-api.ts'
import { NOW_MS } from '../support/ports.ts'

const { api, record, list } = useDocumentsApi()

describe('GET /v1/files', () => {
  it('lists by creation, oldest first, with the storage usage', async () => {
    const last = idOf(await api.promote())
    const [second, first] = [await record(1), await record(2)]
    const response = await list()
    expect(idsOf(response)).toEqual([first.documentId, second.documentId, last])
    const usage = { 'storage-quota-bytes': '1000', 'storage-used-bytes': '8' }
    expect(response.headers).toEqual({ ...COMMON_HEADERS, ...UNLIMITED_HEADERS, ...usage })
    expect(response.body).toMatchObject({ first_id: first.documentId, has_more: false, cursor: null })
    expect(response.body).toMatchObject({ data: Array(3).fill({ container_id: CONTAINER }) })
    expect(JSON.stringify((await list({}, OPENAI)).body)).not.toContain('container_id')
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

  it('goes on behind a document that was deleted meanwhile, by every kind of cursor', async () => {
    const documents: WorkspaceDocument[] = []
    for (let minute = 6; minute > 0; minute--) documents.push(await record(minute))
    const made = documents.map(({ documentId }) => documentId)
    const first = await list({ limit: '2' })
    const last = bodyOf(first).last_id
    expect(last).toBe(made[1])
    // The one before it stays: without a cursor it would come again.
    await api.documents.delete(documents[1] as WorkspaceDocument, { dueAtMs: 0 }, AbortSignal.timeout(1000))
    const rest = made.slice(2)
    expect(idsOf(await list({ cursor: bodyOf(first).cursor }))).toEqual(rest)
    expect(idsOf(await list({ page: bodyOf(first).cursor }))).toEqual(rest)
    expect(idsOf(await list({ after: last }))).toEqual(rest)
    expect(idsOf(await list({ after_id: last }))).toEqual(rest)
    // @openrouter/sdk sends both.
    expect(idsOf(await list({ cursor: bodyOf(first).cursor, after: made[0] as string }))).toEqual(rest)
  })

  it('lists by up to a hundred ids, newest first, without the unknown, the foreign and the malformed', async () => {
    const [older, newer] = [await record(2), await record(1)]
    const foreign = await record(1, { workspaceId: FOREIGN })
    const named = [older.documentId, newer.documentId, older.documentId, foreign.documentId, 'x', '']
    const ids = [...named, ...Array.from({ length: 94 }, newDocumentId)]
    const response = await list({ 'ids[]': ids }, ANTHROPIC)
    expect(idsOf(response)).toEqual([newer.documentId, older.documentId])
    expect(response.body).toMatchObject({ has_more: false, next_page: null })
    // Browsers and axios name several ids so.
    expect(idsOf(await list({ ids }))).toEqual([newer.documentId, older.documentId])
  })

  it('lists what was promoted from one container, by either name, page by page', async () => {
    const containerId = 'sess_other-r1' as ContainerId
    const own = [await record(3, { containerId }), await record(1, { containerId })].map(({ documentId }) => documentId)
    await record(2)
    await record(2, { containerId, workspaceId: FOREIGN })
    expect(idsOf(await list({ container_id: containerId }))).toEqual(own)
    expect(idsOf(await list({ scope_id: containerId }, ANTHROPIC))).toEqual(own.toReversed())
    const first = await list({ container_id: containerId, limit: '1' })
    expect(idsOf(first)).toEqual(own.slice(0, 1))
    expect(idsOf(await list({ container_id: containerId, cursor: bodyOf(first).cursor }))).toEqual(own.slice(1))
    expect((await list({ container_id: 'sess_unknown' })).body).toMatchObject({ data: [], has_more: false })
    expect(refusalOf(await list({ container_id: 'a/../b' }))).toEqual([400, 'invalid_container_id'])
    expect(refusalOf(await list({ container_id: containerId, ids: own }))).toEqual([400, 'invalid_parameter'])
  })

  it('lists all for the purpose that all have, and none for another', async () => {
    await record(1)
    expect(idsOf(await list({ purpose: 'assistants_output' }, OPENAI))).toHaveLength(1)
    expect(idsOf(await list({ purpose: 'batch' }, OPENAI))).toEqual([])
  })

  it('takes empty parameters and headers for absent', async () => {
    const { documentId } = await record(1)
    const names =
      'limit order purpose cursor page after after_id ids ids[] before before_id container_id scope_id workspace_id'
    const query = Object.fromEntries(names.split(' ').map((name) => [name, '']))
    const headers = { 'file-shape': ' ', 'anthropic-version': '', 'openai-beta': '', 'anthropic-workspace-id': '' }
    const response = await list({ ...query, limit: ['', '5'] }, headers)
    expect(response).toMatchObject({ status: 200, body: { data: [{ _shape: 'native', id: documentId }] } })
  })

  it.each<[string, Record<string, string | string[]>, string, string]>([
    ['a limit that is no number', { limit: '1e2' }, 'invalid_limit', '1 to 1000'],
    ['two limits', { limit: ['1', '2'] }, 'invalid_parameter', 'limit is invalid. Send it only once.'],
    ['an unknown order', { order: 'up' }, 'invalid_parameter', 'asc, desc'],
    ['an unknown purpose', { purpose: 'x' }, 'invalid_parameter', 'assistants_output'],
    ['an unknown document', { after: newDocumentId() }, 'invalid_cursor', 'no document'],
    ['a made-up cursor', { cursor: 'x' }, 'invalid_cursor', 'start again'],
    ['ids and a cursor', { ids: 'file_1', after: 'file_2' }, 'invalid_parameter', 'cursor, a container or a limit'],
    ['ids and a limit', { 'ids[]': 'file_1', limit: '5' }, 'invalid_parameter', 'ids[] is invalid. It cannot be comb'],
    ['too many ids', { 'ids[]': Array(101).fill('file_1') }, 'invalid_parameter', 'ids[] is invalid. At most 100'],
  ])('is 400 for %s, and says what is allowed', async (_, query, reason, detail) => {
    const metadata = { reason, detail: expect.stringContaining(detail) }
    expect(await list(query)).toMatchObject({ status: 400, body: { error: { metadata } } })
  })

  it("takes no cursor of another workspace's list, and shows nothing of it", async () => {
    for (let minute = 3; minute > 0; minute--) await record(minute, { workspaceId: FOREIGN })
    const foreign = await list({ limit: '1' }, {}, api.foreignToken)
    for (const query of [{ cursor: bodyOf(foreign).cursor }, { after: bodyOf(foreign).last_id }]) {
      expect(refusalOf(await list(query))).toEqual([400, 'invalid_cursor'])
    }
    expect(idsOf(await list())).toEqual([])
  })

  it('takes no cursor that was changed, or that says anything but a place', async () => {
    for (let minute = 3; minute > 0; minute--) await record(minute)
    const { cursor, last_id } = bodyOf(await list({ limit: '1' }))
    const changed = [...cursor].map(
      (letter, at) => cursor.slice(0, at) + (letter === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    )
    /** As the product makes it, of any text. */
    const cursorOf = (text: string) => {
      const check = createHash('sha256').update(`ws_1\n${text}`).digest('base64url').slice(0, 16)
      return Buffer.from(`${check}${text}`).toString('base64url')
    }
    expect(cursorOf(`${NOW_MS - 3 * 60_000} ${last_id}`)).toBe(cursor)
    const texts = [`x1 ${last_id}`, `1x ${last_id}`, `1234567890123456 ${last_id}`, '1', '']
    for (const each of [...changed, ...texts.map(cursorOf), `${cursor}==`]) {
      expect((await list({ cursor: each })).status, each).toBe(400)
    }
  })

  it('takes a limit of up to 10,000 from the library that asks for so many, and serves 1,000', async () => {
    for (let minute = 1001; minute > 0; minute--) await record(minute)
    const response = await list({ limit: '10000' }, OPENAI)
    expect(response.status).toBe(200)
    expect(bodyOf(response)).toMatchObject({ data: { length: 1000 }, has_more: true })
    expect((await list({ limit: '10001' }, OPENAI)).status).toBe(400)
  })

  it('does without the usage when it cannot be read', async () => {
    await record(1)
    const error = new ServiceError('service_unavailable')
    vi.spyOn(api.ledger, 'usage').mockRejectedValue(error)
    const response = await list()
    expect(response.status).toBe(200)
    expect(response.headers).not.toHaveProperty('storage-used-bytes')
    const message = 'storage usage not read, request answered without it'
    expect(api.logged).toContainEqual(expect.objectContaining({ level: 'warn', message, error }))
  })
})
