import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { COMMON_HEADERS, RATE_HEADERS } from '../support/api/promotion-answers.ts'
import { ANTHROPIC, CSV, OPENAI, PATH, useTestApi } from '../support/api/test-api.ts'
import { contentOf } from '../support/aws/memory-s3.ts'
import { NOW_MS } from '../support/ports.ts'

const api = useTestApi()

describe('POST /v1/containers/{container_id}/files/{file_id}/promote: 200', () => {
  it('copies the file, counts it, and answers with the new document', async () => {
    const response = await api.promote()
    const [document] = api.stored.documents()
    const sha256 = createHash('sha256').update(CSV).digest('hex')
    const usage = { 'storage-quota-bytes': '1000', 'storage-used-bytes': '8' }
    expect(response).toEqual({
      status: 200,
      headers: { ...COMMON_HEADERS, ...RATE_HEADERS, 'file-sha256': sha256, ...usage },
      body: {
        _shape: 'native',
        id: document?.documentId,
        type: 'file',
        filename: PATH,
        mime_type: 'text/csv',
        size_bytes: 8,
        created_at: '2026-11-21T09:38:35.556Z',
        downloadable: true,
        container_id: 'sess_1',
        sha256,
      },
    })
    expect(document?.documentId).toMatch(/^file_/)
    const copied = api.objects.documents.get(document?.objectKey ?? '')
    expect(copied && [contentOf(copied), copied.headers]).toEqual([CSV, { 'content-type': 'text/csv' }])
    expect(document?.objectKey).toBe(`documents/ws_1/${document?.documentId}/${document?.attemptId}`)
    const workspace = api.stored.ledgerOf('ws_1')
    expect(workspace).toMatchObject({ quotaBytes: 1000, usedBytes: 8, version: NOW_MS + 2, holds: [], refunds: [] })
    expect(api.stored.items()).toHaveLength(1)
  })

  const created_at = '2026-11-21T09:38:35.556Z'
  const A = { type: 'file', mime_type: 'text/csv', size_bytes: 8, created_at, expires_at: null, downloadable: true }
  const B = { object: 'file', bytes: 8, created_at: 1_795_253_915, purpose: 'assistants_output', status: 'processed' }
  it.each([
    ['compat_a', ANTHROPIC, A],
    ['compat_b', OPENAI, B],
  ])('answers in %s to its vendor', async (shape, headers, expected) => {
    const { body } = await api.promote({ headers })
    expect(body).toEqual({ _shape: shape, id: expect.stringMatching(/^file_/), filename: PATH, ...expected })
  })

  it.each([
    ['an empty file', 0],
    ['a file of exactly the largest size', 500],
  ])('promotes %s', async (_, sizeBytes) => {
    api.putFile('some.txt', Buffer.alloc(sizeBytes), 'text/plain')
    const { status, headers, body } = await api.promote({ path: 'some.txt' })
    expect([status, headers['storage-used-bytes']]).toEqual([200, String(sizeBytes)])
    expect(body).toMatchObject({ size_bytes: sizeBytes, mime_type: 'text/plain' })
  })

  it('tells the type by the name when the container stored none, and stores it with the copy', async () => {
    const path = 'отчёт/結果 📄.pdf'
    api.putFile(path, CSV)
    expect((await api.promote({ path })).body).toMatchObject({ filename: path, mime_type: 'application/pdf' })
    expect([...api.objects.documents.values()][0]?.headers).toEqual({ 'content-type': 'application/pdf' })
  })
})
