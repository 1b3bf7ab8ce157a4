import { describe, expect, it } from 'vitest'
import type { AttemptId, DocumentId, WorkspaceId } from '../../lib/ids.ts'
import { type Finding, findingId, NOTHING_AUDITED } from '../../lib/maintenance/findings.ts'
import { reportFinding } from '../../lib/maintenance/report-finding.ts'

const workspaceId = 'ws_1' as WorkspaceId
const documentId = 'file_1' as DocumentId
const objectKey = 'documents/ws_1/file_1/a'

describe('the id of a finding', () => {
  it.each<[string, Finding]>([
    ['drift ws_1', { kind: 'drift', workspaceId, isRepaired: false, usedBytes: 1, expectedBytes: 2 }],
    ['unlisted_document ws_1 file_1', { kind: 'unlisted_document', workspaceId, isRepaired: true, documentId }],
    [
      `document_without_object ws_1 ${objectKey}`,
      { kind: 'document_without_object', workspaceId, isRepaired: false, documentId, objectKey, sizeBytes: 1 },
    ],
    [
      'expired_reservation ws_1 a promotion',
      {
        kind: 'expired_reservation',
        workspaceId,
        isRepaired: false,
        attemptId: 'a' as AttemptId,
        purpose: 'promotion',
        sizeBytes: 1,
        overdueMs: 2,
      },
    ],
    ['not_audited ws_1 why', { kind: 'not_audited', workspaceId, isRepaired: false, message: 'why' }],
  ])('%s', (id, finding) => {
    expect(findingId(finding)).toBe(id)
  })
})

describe('a finding that is reported', () => {
  it.each([
    [true, async () => true, 1],
    [true, async () => undefined, 1],
    [true, async () => false, 0],
    [true, undefined, 0],
    [false, async () => true, 0],
  ])('with repair %s, by %s: %d repaired', async (repair, how, repaired) => {
    const counters = { ...NOTHING_AUDITED }
    const told: Finding[] = []
    const options = { repair, deleteLostDocuments: false, onFinding: (finding: Finding) => void told.push(finding) }
    await reportFinding({ kind: 'unlisted_document', workspaceId, documentId }, { options, counters }, how)
    expect(counters).toMatchObject({ findings: 1, repaired })
    expect(told).toEqual([{ kind: 'unlisted_document', workspaceId, documentId, isRepaired: repaired === 1 }])
  })
})
