import { describe, expect, it, vi } from 'vitest'
import type { FilePath } from '../../lib/ids.ts'
import { useDocumentsApi } from '../support/api/documents-api.ts'
import { COMMON_HEADERS, refusalOf } from '../support/api/promotion-answers.ts'
import { FOREIGN } from '../support/api/test-api.ts'
import { storedObject } from '../support/aws/memory-s3.ts'
import { DOCUMENTS_TABLE } from '../support/dynamodb/memory-tables.ts'
import { WORKSPACE } from '../support/ports.ts'

const { api, record, download } = useDocumentsApi()

describe('GET /v1/files/{id}/content', () => {
  it('redirects to a presigned URL of the object, an attachment of its type and name, and says until when', async () => {
    const sha256 = 'ab'.repeat(32)
    const document = await record(1, { sha256 })
    const response = await download(document.documentId)
    expect(response).toMatchObject({
      status: 302,
      headers: { 'cache-control': 'no-store', vary: `${COMMON_HEADERS.vary}, Accept`, 'file-sha256': sha256 },
      body: { url: response.headers.location, expires_at: '2026-11-21T09:40:35.000Z' },
    })
    const url = new URL(response.headers.location ?? '')
    expect([url.hostname, url.pathname]).toEqual(['s3.us-east-1.amazonaws.com', `/documents/${document.objectKey}`])
    expect(url.searchParams.get('response-content-type')).toBe('text/csv')
    const disposition = `attachment; filename="report.csv"; filename*=UTF-8''report.csv`
    expect(url.searchParams.get('response-content-disposition')).toBe(disposition)
  })

  it('gives each of many at once its own object, type and name, for one caller and for several', async () => {
    const types = ['text/csv', 'text/html', 'application/pdf', 'image/png']
    const documents = await Promise.all(
      types.map((mimeType, index) => {
        const workspaceId = index % 2 === 0 ? WORKSPACE : FOREIGN
        return record(index, { workspaceId, mimeType, filename: `output/${index}.bin` as FilePath })
      }),
    )
    const tokenOf = { [WORKSPACE]: api.managementToken, [FOREIGN]: api.foreignToken }
    const answers = await Promise.all(
      documents.map(({ workspaceId, documentId }) => download(documentId, {}, tokenOf[workspaceId])),
    )
    for (const [index, { headers }] of answers.entries()) {
      const { pathname, searchParams } = new URL(headers.location ?? '')
      expect(pathname).toBe(`/documents/${documents[index]?.objectKey}`)
      expect(searchParams.get('response-content-type')).toBe(types[index])
      expect(searchParams.get('response-content-disposition')).toContain(`attachment; filename="${index}.bin"`)
    }
  })

  it('says application/octet-stream to whoever accepts nothing else', async () => {
    const { documentId } = await record(1)
    const { headers } = await download(documentId, { accept: 'application/octet-stream' })
    expect(new URL(headers.location ?? '').searchParams.get('response-content-type')).toBe('application/octet-stream')
  })

  const ARCHIVED = storedObject({ bytes: Buffer.alloc(8), storageClass: 'GLACIER' })
  it.each([
    ['is archived', 'archive storage', (key: string) => api.objects.documents.set(key, ARCHIVED)],
    ['is lost', 'lost', (key: string) => api.objects.documents.delete(key)],
  ])('is our 404 when the content %s', async (_, detail, change) => {
    const { documentId, objectKey } = await record(1)
    change(objectKey)
    const response = await download(documentId)
    expect(refusalOf(response)).toEqual([404, 'file_not_downloadable'])
    const metadata = { document_id: documentId, detail: expect.stringContaining(detail) }
    expect(response.body).toMatchObject({ error: { metadata } })
    const message = 'the object of a document is lost'
    const lost = expect.objectContaining({ level: 'error', message, document_id: documentId })
    expect(api.logged.filter(({ level }) => level === 'error')).toEqual(detail === 'lost' ? [lost] : [])
  })

  it('is a plain 404 when the document is deleted between the two looks', async () => {
    const document = await record(1)
    vi.spyOn(api.objects, 'findDocumentObject').mockImplementation(async () => {
      await api.stored.removeAll(DOCUMENTS_TABLE)
      return undefined
    })
    expect(refusalOf(await download(document.documentId))).toEqual([404, 'document_not_found'])
    expect(api.logged.some(({ level }) => level === 'error')).toBe(false)
  })
})
