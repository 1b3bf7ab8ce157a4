import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { describeDownload } from '../../lib/files/download.ts'
import { downloadContainerFile } from '../../lib/files/download-container-file.ts'
import { downloadDocument } from '../../lib/files/download-document.ts'
import { findDocument } from '../../lib/files/find-document.ts'
import { formatCursor, parseCursor } from '../../lib/files/list-cursor.ts'
import { listDocumentsById } from '../../lib/files/list-documents.ts'
import { readUsage } from '../../lib/files/read-usage.ts'
import { documentIdOfAttempt, formatFileId, newAttemptId, type WorkspaceId } from '../../lib/ids.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'
import { createRecordingLog, type LogLine } from '../support/http/test-api.ts'

const { signal } = new AbortController()
const workspaceId = 'ws_1' as WorkspaceId
const attemptId = newAttemptId()
const documentId = documentIdOfAttempt(attemptId)
const NOW_MS = 1_000_000
const objectKeys = createObjectKeys({
  sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
  document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
})
const downloads = { lifetimeSeconds: 120, signDocument: async () => 'url', signContainerFile: async () => 'url' }

function recordingLog() {
  const lines: LogLine[] = []
  return { lines, log: createRecordingLog(lines) }
}

describe('a cursor', () => {
  const position = { createdAt: new Date(1_795_000_000_000), documentId }
  /** As formatCursor makes it, of any text. */
  const cursorOf = (text: string) => {
    const check = createHash('sha256').update(`${workspaceId}\n${text}`).digest('base64url').slice(0, 16)
    return Buffer.from(`${check}${text}`).toString('base64url')
  }

  it('is the position that it was made of', () => {
    const cursor = formatCursor(workspaceId, position)
    expect(cursor).toBe(cursorOf(`1795000000000 ${documentId}`))
    expect(parseCursor(workspaceId, cursor)).toEqual(position)
  })

  it.each([
    ['something before the time', cursorOf(`x1 ${documentId}`)],
    ['something behind the time', cursorOf(`1x ${documentId}`)],
    ['a time of 16 digits', cursorOf(`1234567890123456 ${documentId}`)],
    ['no document', cursorOf('1')],
    ['nothing', cursorOf('')],
    ['characters that decoding leaves out', `${formatCursor(workspaceId, position)}==`],
  ])('is refused with %s', (_, cursor) => {
    expect(() => parseCursor(workspaceId, cursor)).toThrow(expect.objectContaining({ reason: 'invalid_cursor' }))
  })
})

describe('documents by their ids', () => {
  it('are asked for once each, without what is no id, and not at all when nothing is left', async () => {
    const findAll = vi.fn().mockResolvedValue([])
    const listing = { findAll } as never
    await listDocumentsById({ workspaceId, ids: [documentId, 'x', documentId] }, { listing }, signal)
    expect(findAll.mock.calls).toEqual([[workspaceId, [documentId], signal]])
    expect(await listDocumentsById({ workspaceId, ids: ['x'] }, { listing }, signal)).toEqual({
      documents: [],
      nextCursor: undefined,
    })
    expect(findAll).toHaveBeenCalledOnce()
  })
})

describe('what is missing', () => {
  it('is named in the answer', async () => {
    const documents = { find: async () => undefined }
    await expect(findDocument({ workspaceId, documentId }, { documents }, signal)).rejects.toMatchObject({
      reason: 'document_not_found',
      metadata: { document_id: documentId },
    })
  })

  it('is named in log and answer when a record has lost its object', async () => {
    const { lines, log } = recordingLog()
    const document = { workspaceId, documentId, attemptId, objectKey: 'documents/ws_1/a/b' }
    const deps = {
      documents: { find: async () => document as never },
      documentObjects: { findDocumentObject: async () => undefined } as never,
      downloads,
      now: () => NOW_MS,
    }
    const downloading = downloadDocument({ workspaceId, documentId, asOctetStream: false, log }, deps, signal)
    await expect(downloading).rejects.toMatchObject({
      reason: 'file_not_downloadable',
      metadata: { document_id: documentId },
    })
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'the object of a document is lost',
        document_id: documentId,
        attempt_id: attemptId,
      },
    ])
  })
})

describe('a download', () => {
  it('of a container file ends when its URL does', async () => {
    const containerFiles = {
      hasContainer: async () => true,
      findContainerFile: async (objectKey: string) => ({
        objectKey,
        sizeBytes: 1,
        contentType: 'text/csv',
        modifiedAt: new Date(0),
      }),
    } as never
    const fileId = formatFileId('a.csv')
    const request = { workspaceId, containerId: 'sess_1', fileId, asOctetStream: false }
    const deps = { containerFiles, downloads, objectKeys, now: () => NOW_MS }
    const { expiresAt } = await downloadContainerFile(request, deps, signal)
    expect(expiresAt.getTime()).toBe(NOW_MS + 120_000)
  })

  it.each([
    [200, `text/${'x'.repeat(195)}`],
    [201, 'application/octet-stream'],
  ])('has a type of %d characters as %s', (length, expected) => {
    const mimeType = `text/${'x'.repeat(length - 5)}`
    expect(describeDownload({ objectKey: 'k', path: 'a', mimeType }, false).contentType).toBe(expected)
  })
})

describe('storage usage', () => {
  it('that cannot be read is left out of the answer, and told in the log', async () => {
    const { lines, log } = recordingLog()
    const error = new Error('no DynamoDB')
    const ledger = { usage: () => Promise.reject(error) }
    expect(await readUsage({ workspaceId, log }, { ledger }, signal)).toBeUndefined()
    expect(lines).toEqual([{ level: 'warn', message: 'storage usage not read, request answered without it', error }])
  })
})
