import { describe, expect, it } from 'vitest'
import type { DocumentMaintenance } from '../../lib/maintenance/document-maintenance.ts'
import type { DocumentRecords, WorkspaceDocument } from '../../lib/promotion/document-records.ts'
import { newWorkspaceId } from '../support/stores/ledger-values.ts'
import { useDocuments } from '../support/stores/use-documents.ts'

const { signal } = new AbortController()

export function describeDocumentRecords(name: string, make: () => DocumentRecords & DocumentMaintenance): void {
  describe(`document records: ${name}`, () => {
    const store = useDocuments(make)
    const { document, find, record, recorded, rowOf, fence, deletionOf, remove } = store

    describe('record', () => {
      it('makes a document that is found, field by field', async () => {
        const one = await recorded()
        expect(await find(one)).toEqual(one)
      })

      it('makes it under this id and in this workspace only', async () => {
        const one = await recorded()
        expect(await find(document())).toBeUndefined()
        expect(await find({ ...one, workspaceId: newWorkspaceId() })).toBeUndefined()
      })

      it('lets the first of two attempts at a document win', async () => {
        const one = await recorded()
        expect(await record(document(one.documentId))).toBe('taken')
        expect(await find(one)).toEqual(one)
      })

      it('lets one of ten at once win', async () => {
        const first = document()
        const twins = [first, ...Array.from({ length: 9 }, () => document(first.documentId))]
        const outcomes = await Promise.all(twins.map(record))
        expect(outcomes.toSorted()).toEqual(['recorded', ...Array(9).fill('taken')])
        expect(await find(first)).toEqual(twins[outcomes.indexOf('recorded')])
      })

      it('makes a document anew where one was deleted', async () => {
        const one = await recorded()
        await remove(one)
        const fresh = await recorded(document(one.documentId))
        expect(await find(one)).toEqual(fresh)
      })

      it('does not bring the deleted document of its own attempt back', async () => {
        const one = await recorded()
        await remove(one)
        expect(await record(one)).toBe('fenced')
        expect(await find(one)).toBeUndefined()
      })

      it('waits until a deletion has given its bytes back', async () => {
        const one = await recorded()
        const deletion = deletionOf(one)
        await store.records.retire(deletion, signal)
        expect(await record(document(one.documentId))).toBe('fenced')
        await store.records.finish(deletion, signal)
        await recorded(document(one.documentId))
      })
    })

    describe('fence', () => {
      it('keeps the late record of an attempt out, for good', async () => {
        const late = document()
        for (let times = 0; times < 2; times++) expect(await fence(late)).toBe('fenced')
        expect(await record(late)).toBe('fenced')
        expect(await find(late)).toBeUndefined()
      })

      it('finds that the attempt has recorded, and leaves its document', async () => {
        const one = await recorded()
        expect(await fence(one)).toBe('recorded')
        expect(await find(one)).toEqual(one)
      })

      it('finds that the attempt has recorded a document that was deleted since', async () => {
        const one = await recorded()
        const deletion = deletionOf(one)
        await store.records.retire(deletion, signal)
        expect(await fence(one)).toBe('recorded')
        await store.records.finish(deletion, signal)
        expect(await fence(one)).toBe('recorded')
      })

      it('keeps out all attempts up to the one it fences, and none later', async () => {
        const [first, second, third] = [document(), document(), document()]
        const at = (each: WorkspaceDocument) => ({ ...each, documentId: first.documentId })
        expect(await fence(at(second))).toBe('fenced')
        for (const early of [first, second]) expect(await record(at(early))).toBe('fenced')
        await recorded(at(third))
      })

      it.each([
        ['the earlier first', [0, 1]],
        ['the later first', [1, 0]],
      ])('keeps two attempts out, %s', async (_, order) => {
        const first = document()
        const both = [first, document(first.documentId)]
        for (const index of order) expect(await fence(both[index] as WorkspaceDocument)).toBe('fenced')
        for (const each of both) expect(await record(each)).toBe('fenced')
        await recorded(document(first.documentId))
      })

      it('keeps an attempt out beside the document of another, and after that was deleted', async () => {
        const late = document()
        const other = await recorded(document(late.documentId))
        const later = document(late.documentId)
        for (const each of [late, later]) expect(await fence(each)).toBe('fenced')
        expect(await find(other)).toEqual(other)
        const deletion = deletionOf(other)
        await store.records.retire(deletion, signal)
        for (const each of [late, later]) expect(await record(each)).toBe('fenced')
        await store.records.finish(deletion, signal)
        for (const each of [late, later]) expect(await record(each)).toBe('fenced')
        await recorded(document(late.documentId))
      })

      it('keeps out an attempt that it met while the document was being deleted', async () => {
        const one = await recorded()
        const late = document(one.documentId)
        const deletion = deletionOf(one)
        await store.records.retire(deletion, signal)
        expect(await fence(late)).toBe('fenced')
        expect(await store.records.retire(deletion, signal)).toMatchObject({ objectKey: one.objectKey })
        await store.records.finish(deletion, signal)
        expect(await record(late)).toBe('fenced')
      })

      it('lets a later attempt record where an earlier one was fenced, and still keeps that one out', async () => {
        const late = document()
        await fence(late)
        const other = await recorded(document(late.documentId))
        expect(await record(late)).toBe('taken')
        await remove(other)
        expect(await record(late)).toBe('fenced')
      })
    })

    describe('retire', () => {
      it('takes a document away for the one deletion that comes first, however often it comes', async () => {
        const one = await recorded()
        const [first, second] = [deletionOf(one), deletionOf(one)]
        for (let times = 0; times < 2; times++) {
          expect(await store.records.retire(first, signal)).toMatchObject({ objectKey: one.objectKey })
          expect(await find(one)).toBeUndefined()
        }
        expect(await store.records.retire(second, signal)).toBeUndefined()
        expect((await rowOf(one))?.counted).toMatchObject([{ state: 'retired', retiredBy: first.releaseId }])
        await store.records.finish(first, signal)
        expect(await store.records.retire(first, signal)).toMatchObject({ objectKey: one.objectKey })
        expect(await store.records.retire(second, signal)).toBeUndefined()
      })

      it('takes a document away for one of ten at once', async () => {
        const one = await recorded()
        const deletions = Array.from({ length: 10 }, () => deletionOf(one))
        const retired = await Promise.all(deletions.map((each) => store.records.retire(each, signal)))
        expect(retired.filter((each) => each !== undefined)).toMatchObject([{ objectKey: one.objectKey }])
      })

      it('takes nothing away where there is no document, or one of another attempt', async () => {
        const one = document()
        const deletion = deletionOf(one)
        expect(await store.records.retire(deletion, signal)).toBeUndefined()
        const other = await recorded(document(one.documentId))
        expect(await store.records.retire(deletion, signal)).toBeUndefined()
        expect((await rowOf(other))?.counted).toMatchObject([{ state: 'document', attemptId: other.attemptId }])
        expect(await find(other)).toEqual(other)
      })

      it('finds nothing of its own any more where a new document was made', async () => {
        const one = await recorded()
        const deletion = await remove(one)
        const fresh = await recorded(document(one.documentId))
        expect(await store.records.retire(deletion, signal)).toBeUndefined()
        await store.records.finish(deletion, signal)
        expect(await find(fresh)).toEqual(fresh)
      })
    })

    it('finishes nothing for a deletion that retired nothing', async () => {
      const one = await recorded()
      await store.records.finish(deletionOf(one), signal)
      expect(await find(one)).toEqual(one)
      await store.records.retire(deletionOf(one), signal)
      await store.records.finish(deletionOf(one), signal)
      expect(await record(document(one.documentId))).toBe('fenced')
      await store.records.finish(deletionOf(document()), signal)
    })
  })
}
