import { describe, expect, it } from 'vitest'
import { newDocumentId, useDocumentsApi } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { COMMON_HEADERS, idOf, refusalOf, UNLIMITED_HEADERS } from '../support/api/promotion-answers.ts'
import { CSV, FOREIGN, OPENAI, OPENROUTER, PATH, withKey } from '../support/api/test-api.ts'

const { api, download, record, show } = useDocumentsApi()

describe('GET /v1/files/{id}', () => {
  it('shows the document that a promotion returned, word for word', async () => {
    const promoted = await api.promote()
    const sha256 = { 'file-sha256': promoted.headers['file-sha256'] }
    const headers = { ...COMMON_HEADERS, ...UNLIMITED_HEADERS, ...sha256 }
    expect(await show(idOf(promoted))).toEqual({ status: 200, headers, body: promoted.body })
  })

  const ENCODINGS = ['gzip', 'br, gzip', '']
  it.each(ENCODINGS)('tells how its bytes are encoded, wherever their SHA-256 is told: %j', async (contentEncoding) => {
    api.putFile(PATH, CSV, { contentType: 'text/csv', contentEncoding })
    const promoted = await api.promote(withKey())
    const id = idOf(promoted)
    const answers = [promoted, await api.promote(withKey()), await show(id), await download(id)]
    answers.push(await api.call('retrieve_container_file'))
    const told = answers.map(({ headers }) => headers['file-content-encoding'])
    expect(told).toEqual(Array(5).fill(contentEncoding || undefined))
  })

  it('and its download tell no SHA-256 where none is kept', async () => {
    const { documentId } = await record(1)
    const { headers, body } = await show(documentId)
    expect(headers).not.toHaveProperty('file-sha256')
    expect(body).not.toHaveProperty('sha256')
    expect((await download(documentId)).headers).not.toHaveProperty('file-sha256')
  })

  it("answers in the vendor's shape, or in the words of @openrouter/sdk", async () => {
    const { documentId } = await record(1)
    expect((await show(documentId, OPENAI)).body).toMatchObject({ _shape: 'compat_b', object: 'file', bytes: 8 })
    expect((await show(documentId, OPENROUTER)).body).toMatchObject({ _shape: 'openrouter', type: 'file' })
  })

  it('is 404 for whatever is no id of a document', async () => {
    for (const id of [
      'file_unknown',
      'file_',
      'x',
      '',
      'file_%2e%2e',
      '../ws_2',
      `file_${'1'.repeat(5000)}`,
      'file_0OIl',
    ])
      expect(refusalOf(await show(id)), id).toEqual([404, 'document_not_found'])
  })

  it('is 404 for a container file id, and says where that belongs', async () => {
    const metadata = { reason: 'document_not_found', detail: expect.stringContaining('/containers/') }
    expect((await show('cfile_YQ')).body).toMatchObject({ error: { metadata } })
  })

  it("is 404 for another workspace's document, in the words for one that is not there", async () => {
    const foreign = await record(1, { workspaceId: FOREIGN })
    const [one, other] = [await show(foreign.documentId), await show(newDocumentId())]
    expect([one.status, other.status]).toEqual([404, 404])
    const without = (response: AnyResponse) =>
      JSON.stringify(response.body).replace(/"(document|request)_id":"[^"]*"/g, '')
    expect(without(one)).toBe(without(other))
  })
})
