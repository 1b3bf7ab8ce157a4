import { describe, expect, it } from 'vitest'
import type { WorkspaceId } from '../../lib/ids.ts'
import { COMMON_HEADERS, RATE_HEADERS } from '../support/api/promotion-answers.ts'
import { CSV, createTestApi, PATH } from '../support/api/test-api.ts'

describe('POST /v1/containers/{container_id}/files/{file_id}/promote: 200', () => {
  it('copies the file, counts it, and answers with the new document', async () => {
    const api = createTestApi()
    const response = await api.promote({})
    const [document] = api.documents.documents.values()
    expect(response).toEqual({
      status: 200,
      headers: { ...COMMON_HEADERS, ...RATE_HEADERS, 'storage-quota-bytes': '1000', 'storage-used-bytes': '8' },
      body: {
        _shape: 'native',
        id: document?.documentId,
        type: 'file',
        filename: PATH,
        mime_type: 'text/csv',
        size_bytes: 8,
        created_at: '2026-11-21T09:38:35.556Z',
        downloadable: true,
      },
    })
    expect(document?.documentId).toMatch(/^file_/)
    expect(api.objects.documents.get(document?.objectKey ?? '')).toEqual({ bytes: CSV, contentType: 'text/csv' })
    expect(document?.objectKey).toBe(`documents/ws_1/${document?.documentId}/${document?.attemptId}`)
    const workspace = api.ledger.workspaces.get('ws_1' as WorkspaceId)
    expect(workspace).toMatchObject({ quotaBytes: 1000, remainingBytes: 992, version: 2 })
    expect([workspace?.takings.size, workspace?.releases.size, api.reservations.items.size]).toEqual([0, 0, 0])
  })

  it('answers in compat_a to the first vendor', async () => {
    const { body } = await createTestApi().promote({ headers: { 'anthropic-version': '2026-10-21' } })
    expect(body).toMatchObject({
      _shape: 'compat_a',
      type: 'file',
      filename: PATH,
      mime_type: 'text/csv',
      size_bytes: 8,
      downloadable: true,
    })
  })

  it('answers in compat_b to the second vendor', async () => {
    const { body } = await createTestApi().promote({ headers: { 'user-agent': 'OpenAI/JS 6.49.0' } })
    expect(body).toEqual({
      _shape: 'compat_b',
      id: expect.stringMatching(/^file_/),
      object: 'file',
      bytes: 8,
      created_at: 1_795_253_915,
      filename: PATH,
      purpose: 'assistants_output',
      status: 'processed',
    })
  })

  it('promotes an empty file', async () => {
    const api = createTestApi()
    api.putFile('empty.txt', Buffer.alloc(0), 'text/plain')
    const { status, headers, body } = await api.promote({ path: 'empty.txt' })
    expect([status, headers['storage-used-bytes']]).toEqual([200, '0'])
    expect(body).toMatchObject({ size_bytes: 0, mime_type: 'text/plain' })
  })

  it('promotes a file of exactly the largest size', async () => {
    const api = createTestApi()
    api.putFile('max.bin', Buffer.alloc(500))
    expect((await api.promote({ path: 'max.bin' })).status).toBe(200)
  })

  it('tells the type by the content when neither the container nor the name does', async () => {
    const api = createTestApi()
    api.putFile('figure', Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'))
    const { body } = await api.promote({ path: 'figure' })
    expect(body).toMatchObject({ mime_type: 'image/png' })
    expect([...api.objects.documents.values()][0]?.contentType).toBe('image/png')
  })

  it('tells the type by the extension when the container stored none, and stores it with the copy', async () => {
    const api = createTestApi()
    api.putFile('отчёт/結果 📄.pdf', Buffer.from('%PDF'))
    const { body } = await api.promote({ path: 'отчёт/結果 📄.pdf' })
    expect(body).toMatchObject({ filename: 'отчёт/結果 📄.pdf', mime_type: 'application/pdf' })
    expect([...api.objects.documents.values()][0]?.contentType).toBe('application/pdf')
  })
})
