import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { downloadContainerFile } from '../../lib/containers/download-container-file.ts'
import { describeDownload } from '../../lib/documents/download.ts'
import { formatCursor, parseCursor } from '../../lib/documents/list-cursor.ts'
import { documentIdOfAttempt, formatFileId, newAttemptId, type WorkspaceId } from '../../lib/ids.ts'
import { createObjectKeys } from '../../lib/object-keys.ts'

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
