import { describe, expect, it, vi } from 'vitest'
import { idsOf, newDocumentId, useDocumentsApi } from '../support/api/documents-api.ts'
import { idOf, refusalOf } from '../support/api/promotion-answers.ts'
import { ANTHROPIC, FOREIGN, OPENAI, OPENROUTER } from '../support/api/test-api.ts'

const { api, record, list, remove, show } = useDocumentsApi()

describe('DELETE /v1/files/{id}', () => {
  it.each([
    ['native', {}, { _shape: 'native', type: 'file_deleted' }],
    ['compat_a', ANTHROPIC, { _shape: 'compat_a', type: 'file_deleted' }],
    ['compat_b', OPENAI, { _shape: 'compat_b', object: 'file', deleted: true }],
    ['the words of @openrouter/sdk', OPENROUTER, { _shape: 'openrouter', type: 'file_deleted' }],
  ])('deletes record and object, gives the bytes back, and says so in %s', async (_, headers, expected) => {
    const id = idOf(await api.promote())
    const response = await remove(id, headers)
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ id, ...expected })
    expect(response.headers).toMatchObject({ 'storage-quota-bytes': '1000', 'storage-used-bytes': '0' })
    expect([api.stored.documents().length, api.objects.documents.size]).toEqual([0, 0])
    expect((await show(id)).status).toBe(404)
    expect(idsOf(await list())).toEqual([])
  })

  it('is 200 again as long as the deletion is remembered, counts it once, and asks for nothing else', async () => {
    const id = idOf(await api.promote())
    api.logged.splice(0)
    const find = vi.spyOn(api.documents, 'find')
    const answers: unknown[] = []
    for (let times = 0; times < 3; times++) {
      const { status, headers } = await remove(id)
      answers.push([status, headers['storage-used-bytes'], find.mock.calls.length])
    }
    expect(answers).toEqual([1, 2, 3].map((looks) => [200, '0', looks]))
    expect(api.published.filter((values) => 'Deletions' in values)).toEqual([{ Deletions: 1, DeletedBytes: 8 }])
    const told = api.logged.filter(({ document_id }) => document_id === id)
    expect(told.map(({ is_replayed }) => is_replayed)).toEqual([false, true, true])
  })

  it("is 404 for what was never there, is malformed, or is another workspace's", async () => {
    const foreign = await record(1, { workspaceId: FOREIGN })
    for (const id of [newDocumentId(), 'x', foreign.documentId]) {
      expect(refusalOf(await remove(id))).toEqual([404, 'document_not_found'])
    }
    expect(api.stored.documents().length).toBe(1)
  })
})
