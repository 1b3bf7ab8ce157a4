import { beforeEach, describe, expect, it } from 'vitest'
import {
  type ContainerId,
  type FilePath,
  newAttemptId,
  newDocumentId,
  type WorkspaceId,
} from '../../lib/promotion/ids.ts'
import type { DocumentOverview, DocumentRecords, Reservation, WorkspaceDocument } from '../../lib/promotion/ports.ts'

const signal = AbortSignal.timeout(60_000)

export function describeDocumentRecords(name: string, make: () => DocumentRecords & DocumentOverview): void {
  describe(`document records: ${name}`, () => {
    let records: DocumentRecords & DocumentOverview
    beforeEach(() => {
      records = make()
    })
    const document = (ids: Partial<WorkspaceDocument> = {}): WorkspaceDocument => ({
      workspaceId: 'ws_1' as WorkspaceId,
      documentId: newDocumentId(),
      attemptId: newAttemptId(),
      objectKey: 'documents/ws_1/x/y',
      filename: 'отчёт/結果 📄.csv' as FilePath,
      mimeType: 'text/csv; charset=utf-8',
      sizeBytes: 5 * 1024 ** 3,
      createdAt: new Date('2026-11-21T09:38:35.556Z'),
      containerId: 'sess_1' as ContainerId,
      createdBy: 'key_1',
      ...ids,
    })
    const attempt = (of: WorkspaceDocument): Reservation => ({ ...of, leaseExpiresAtMs: 0 })
    const find = ({ workspaceId, documentId }: WorkspaceDocument) => records.find(workspaceId, documentId, signal)

    it('finds what was recorded, field by field', async () => {
      const one = document()
      expect(await records.record(one, signal)).toBe('recorded')
      expect(await find(one)).toEqual(one)
    })

    it('finds nothing under an unknown id or in another workspace', async () => {
      const one = document()
      await records.record(one, signal)
      expect(await find(document())).toBeUndefined()
      expect(await find({ ...one, workspaceId: 'ws_2' as WorkspaceId })).toBeUndefined()
    })

    it('takes a repeated record for the same one', async () => {
      const one = document()
      await records.record(one, signal)
      expect(await records.record(one, signal)).toBe('recorded')
    })

    it('lets the first of two attempts at a document win', async () => {
      const one = document()
      await records.record(one, signal)
      const other = document({ documentId: one.documentId })
      expect(await records.record(other, signal)).toBe('taken')
      expect(await find(one)).toEqual(one)
    })

    it('fences an attempt before it records: its late record is refused, for good', async () => {
      const late = document()
      expect(await records.fence(attempt(late), signal)).toBe('fenced')
      expect(await records.fence(attempt(late), signal)).toBe('fenced')
      expect(await records.record(late, signal)).toBe('fenced')
      expect(await find(late)).toBeUndefined()
    })

    it('finds on fencing that the attempt has recorded, and leaves its document', async () => {
      const one = document()
      await records.record(one, signal)
      expect(await records.fence(attempt(one), signal)).toBe('recorded')
      expect(await find(one)).toEqual(one)
    })

    it('lets a new attempt record where an old one was fenced, and keeps the old one out', async () => {
      const [first, second] = [document(), document()]
      const old = [first, { ...second, documentId: first.documentId }] as const
      for (const each of old) await records.fence(attempt(each), signal)
      for (const each of old) expect(await records.record(each, signal)).toBe('fenced')
      const fresh = document({ documentId: first.documentId })
      expect(await records.record(fresh, signal)).toBe('recorded')
      expect(await records.record(first, signal)).toBe('taken')
      expect(await records.fence(attempt(first), signal)).toBe('fenced')
      expect(await find(fresh)).toEqual(fresh)
    })

    const deletion = (of: WorkspaceDocument): Reservation => ({ ...of, attemptId: newAttemptId(), leaseExpiresAtMs: 0 })

    it('retires a document for the one deletion that comes first, however often it comes', async () => {
      const one = document()
      await records.record(one, signal)
      const [first, second] = [deletion(one), deletion(one)]
      expect(await records.retire(first, signal)).toBe('retired')
      expect(await find(one)).toBeUndefined()
      expect(await records.retire(second, signal)).toBe('absent')
      expect(await records.isRetiredBy(first, signal)).toBe(true)
      expect(await records.isRetiredBy(second, signal)).toBe(false)
      expect(await records.retire(first, signal)).toBe('retired')
    })

    it('retires nothing where there is no document, or one with another object', async () => {
      const one = document()
      expect(await records.retire(deletion(one), signal)).toBe('absent')
      await records.record(one, signal)
      expect(await records.retire(deletion({ ...one, objectKey: 'documents/ws_1/x/z' }), signal)).toBe('absent')
      expect(await find(one)).toEqual(one)
    })

    it('does not bring a retired document back by a late repetition of its record, but lets a new attempt make it anew', async () => {
      const one = document()
      await records.record(one, signal)
      await records.retire(deletion(one), signal)
      expect(await records.record(one, signal)).toBe('fenced')
      expect(await find(one)).toBeUndefined()
      const fresh = document({ documentId: one.documentId })
      expect(await records.record(fresh, signal)).toBe('recorded')
      expect(await find(fresh)).toEqual(fresh)
    })

    it('keeps a fenced attempt out even after another one has recorded there and was deleted', async () => {
      const late = document()
      await records.fence(attempt(late), signal)
      const other = document({ documentId: late.documentId })
      await records.record(other, signal)
      await records.retire(deletion(other), signal)
      expect(await records.record(late, signal)).toBe('fenced')
      const later = document({ documentId: late.documentId })
      await records.record(later, signal)
      const beside = document({ documentId: late.documentId })
      expect(await records.fence(attempt(beside), signal)).toBe('fenced')
      await records.retire(deletion(later), signal)
      for (const each of [late, other, later, beside]) expect(await records.record(each, signal)).toBe('fenced')
      expect(await find(late)).toBeUndefined()
    })

    it('lists the documents of one workspace by ascending id, without tombstones', async () => {
      const workspaceId = `ws_${newAttemptId()}` as WorkspaceId
      const documents = Array.from({ length: 5 }, () => document({ workspaceId }))
      for (const each of documents.toReversed()) await records.record(each, signal)
      await records.fence(attempt(document({ workspaceId })), signal)
      await records.retire(deletion(documents[2] as WorkspaceDocument), signal)
      const listed = []
      for await (const each of records.list(workspaceId, signal)) listed.push(each)
      expect(listed).toEqual(documents.toSpliced(2, 1))
    })
  })
}
