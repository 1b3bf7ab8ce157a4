import { describe, expect, it } from 'vitest'
import { formatFileId, type WorkspaceId } from '../../lib/ids.ts'
import { newDocumentId, OPENAI, OPENROUTER, useDocumentsApi } from '../support/api/documents-api.ts'
import type { AnyResponse } from '../support/api/openapi.ts'
import { COMMON_HEADERS, refusalOf, UNLIMITED_HEADERS } from '../support/api/promotion-answers.ts'
import { CONTAINER, CSV, PATH } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'

const files = useDocumentsApi()
const { record, show } = files

describe('GET /v1/files/{id}', () => {
  it('shows the document that a promotion returned, word for word', async () => {
    const { body, headers } = await files.api.promote({})
    const shown = await show((body as { id: string }).id)
    const sha256 = { 'file-sha256': headers['file-sha256'] }
    expect(shown).toEqual({ status: 200, headers: { ...COMMON_HEADERS, ...UNLIMITED_HEADERS, ...sha256 }, body })
  })

  it.each(['gzip', 'br, gzip', ''])(
    'tells how its bytes are encoded, wherever their SHA-256 is told: %j',
    async (contentEncoding) => {
      const file = { bytes: CSV, contentType: 'text/csv', contentEncoding }
      files.api.objects.sandbox.set(`sandboxes/ws_1/${CONTAINER}/${PATH}`, storedObject(file))
      const parameters = { container_id: CONTAINER, file_id: formatFileId(PATH) }
      const promote = () => files.api.promote({ headers: { 'Idempotency-Key': 'k' } })
      const promoted = await promote()
      const { id } = promoted.body as { id: string }
      const answers = [promoted, await promote(), await show(id), await files.download(id)]
      answers.push(await files.api.call('retrieve_container_file', { parameters }))
      const told = answers.map(({ headers }) => headers['file-content-encoding'])
      expect(told).toEqual(Array(5).fill(contentEncoding || undefined))
    },
  )

  it('and its download tell no SHA-256 where none is kept', async () => {
    const { documentId } = await record(1)
    const { headers, body } = await show(documentId)
    expect(headers).not.toHaveProperty('file-sha256')
    expect(body).not.toHaveProperty('sha256')
    expect((await files.download(documentId)).headers).not.toHaveProperty('file-sha256')
  })

  it("answers in the vendor's shape, or in the words of @openrouter/sdk", async () => {
    const { documentId } = await record(1)
    expect((await show(documentId, OPENAI)).body).toMatchObject({ _shape: 'compat_b', object: 'file', bytes: 8 })
    expect((await show(documentId, OPENROUTER)).body).toMatchObject({ _shape: 'openrouter', type: 'file' })
  })

  it.each(['file_unknown', 'file_', 'x', '', 'file_%2e%2e', '../ws_2', `file_${'1'.repeat(5000)}`, 'file_0OIl'])(
    'is 404 for %j',
    async (id) => {
      expect(refusalOf(await show(id))).toEqual([404, 'document_not_found'])
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
