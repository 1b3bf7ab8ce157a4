import { describe, expect, it } from 'vitest'
import { type Finding, findingId } from '../../../lib/audit/findings.ts'
import type { DocumentId, WorkspaceId } from '../../../lib/ids.ts'

const workspaceId = 'ws_1' as WorkspaceId
const documentId = 'file_1' as DocumentId
const objectKey = 'documents/ws_1/file_1/a'

describe('the id of a finding', () => {
  it.each<[string, Finding]>([
    ['drift ws_1', { kind: 'drift', workspaceId, isRepaired: false, usedBytes: 1, expectedBytes: 2 }],
    [
      `document_without_object ws_1 ${objectKey}`,
      { kind: 'document_without_object', workspaceId, isRepaired: false, documentId, objectKey, sizeBytes: 1 },
    ],
    ['not_audited ws_1 why', { kind: 'not_audited', workspaceId, isRepaired: false, message: 'why' }],
  ])('%s', (id, finding) => {
    expect(findingId(finding)).toBe(id)
  })
})
