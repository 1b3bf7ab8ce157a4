import { describe, expect, it } from 'vitest'
import type { DeletedDocument, WorkspaceDocument } from '../../lib/ledger/ports/document-records.ts'
import { newWorkspaceId } from '../support/stores/ledger-values.ts'
import { DAY_MS, type MakeDocuments, useDocuments } from '../support/stores/use-documents.ts'
import { describeDeletions } from './document-deletions.contract.ts'

const { signal } = new AbortController()
type Four = [WorkspaceDocument, WorkspaceDocument, WorkspaceDocument, WorkspaceDocument]

export function describeDocumentRecords(name: string, make: MakeDocuments): void {
  describe(`document records: ${name}`, () => {
    const store = useDocuments(make)
    const { clock, document, find, record, recorded, fence, deleteDocument, remove } = store

    describe('record', () => {
      it('makes a document that is found, field by field', async () => {
        const one = await recorded()
        expect(await find(one)).toEqual(one)
        expect(await store.findEvenDeleted(one)).toEqual(one)
      })

      it('is found among many, and so are the remains of one that was deleted', async () => {
        const one = await recorded()
        const { workspaceId } = one
        const deleted = { ...document(), workspaceId }
        await recorded(deleted)
        await remove(deleted)
        const ids = [one.documentId, deleted.documentId, ...Array.from({ length: 98 }, () => document().documentId)]
        const found = await store.records.findAllEvenDeleted(workspaceId, ids, signal)
        expect(found).toHaveLength(2)
        expect(found).toEqual(expect.arrayContaining([one, await store.findEvenDeleted(deleted)]))
        expect(await store.records.findAllEvenDeleted(newWorkspaceId(), ids, signal)).toEqual([])
      })

      it('makes it under this id and in this workspace only', async () => {
        const one = await recorded()
        for (const other of [document(), { ...one, workspaceId: newWorkspaceId() }]) {
          expect(await find(other)).toBeUndefined()
          expect(await store.findEvenDeleted(other)).toBeUndefined()
        }
      })

      it('lets the first of two attempts at a document win', async () => {
        const one = await recorded()
        expect(await record(document(one.documentId))).toBe('exists')
        expect(await find(one)).toEqual(one)
      })

      it('lets one of ten at once win', async () => {
        const first = document()
        const twins = [first, ...Array.from({ length: 9 }, () => document(first.documentId))]
        const outcomes = await Promise.all(twins.map((each) => record(each)))
        expect(outcomes.toSorted()).toEqual([...Array(9).fill('exists'), 'recorded'])
        expect(await find(first)).toEqual(twins[outcomes.indexOf('recorded')])
      })

      it('makes nothing where a document was deleted, for a day, by whatever attempt', async () => {
        const one = await recorded()
        const later = document(one.documentId)
        await remove(one)
        for (const passMs of [0, DAY_MS - 1000]) {
          clock.nowMs += passMs
          for (const each of [one, later]) expect(await record(each)).toBe('exists')
          expect(await find(one)).toBeUndefined()
        }
        clock.nowMs += 1000
        // As if the tombstone had gone, which happens some time later.
        await recorded(later)
        expect(await find(one)).toEqual(later)
        expect(await deleteDocument(later)).toEqual({ releasedBy: undefined })
      })

      it('waits for as long as a deletion has not given its bytes back', async () => {
        const one = await recorded()
        await deleteDocument(one)
        clock.nowMs += 30 * DAY_MS
        for (const each of [one, document(one.documentId)]) expect(await record(each)).toBe('exists')
        const deletion = store.deletionOf(one)
        await store.records.handOver(deletion, new AbortController().signal)
        expect(await record(document(one.documentId))).toBe('exists')
      })
    })

    describe('record in the place of a deleted document', () => {
      it('needs that one, its bytes given back, and an attempt that was not fenced', async () => {
        const one = await recorded()
        const [beside, later, after, last] = Array.from({ length: 4 }, () => document(one.documentId)) as Four
        const deletion = store.deletionOf(one)
        for (const step of [
          () => fence(beside),
          () => deleteDocument(one),
          () => store.records.handOver(deletion, signal),
          () => store.records.expireTombstone(deletion, signal),
        ]) {
          expect(await record(later, one)).toBe('exists')
          await step()
        }
        await fence(after)
        for (const each of [beside, later, after]) expect(await record(each, one)).toBe('exists')
        expect(await record(last, document())).toBe('exists')
        expect(await record(last, one)).toBe('recorded')
        expect([await find(one), await store.findEvenDeleted(one)]).toEqual([last, last])
        for (const each of [one, document(one.documentId)]) expect(await record(each, one)).toBe('exists')
      })

      it('remembers how that was counted, and that it was recorded, until it is replaced in turn, or for a day', async () => {
        const counted = ({ attemptId, sizeBytes, countedFrom }: WorkspaceDocument) => ({
          attemptId,
          sizeBytes,
          countedFrom,
        })
        const one = await recorded()
        let [before, expected] = [one, counted(one)]
        for (let times = 0; times < 2; times++) {
          const { releaseId: releasedBy } = await remove(before)
          const next = document(one.documentId)
          expect(await record(next, (await store.findEvenDeleted(before)) as DeletedDocument)).toBe('recorded')
          expected = { ...counted(before), releasedBy, markedIn: 9 } as never
          const row = { documentId: one.documentId, document: next, counted: counted(next), replaced: expected }
          expect(await store.rowOf(one)).toEqual(row)
          expect([await fence(before), await fence(next)]).toEqual(['recorded', 'recorded'])
          before = next
        }
        expect(await fence(one)).toBe('fenced')
        await remove(before)
        expect(await store.rowOf(one)).toMatchObject({ counted: counted(before), replaced: expected })
        clock.nowMs += DAY_MS
        await recorded(document(one.documentId))
        expect((await store.rowOf(one))?.replaced).toBeUndefined()
      })
    })

    describe('fence', () => {
      it('keeps the late record of an attempt out, for a day', async () => {
        const late = document()
        for (let times = 0; times < 2; times++) expect(await fence(late)).toBe('fenced')
        clock.nowMs += DAY_MS - 1000
        expect(await record(late)).toBe('fenced')
        expect(await find(late)).toBeUndefined()
        expect(await store.findEvenDeleted(late)).toBeUndefined()
      })

      it('keeps a later attempt out for a day from then, where an earlier one was fenced', async () => {
        const first = document()
        const later = document(first.documentId)
        await fence(first)
        clock.nowMs += DAY_MS - 1000
        await fence(later)
        clock.nowMs += DAY_MS - 1000
        expect(await record(later)).toBe('fenced')
      })

      it('finds that the attempt has recorded, and leaves its document', async () => {
        const one = await recorded()
        expect(await fence(one)).toBe('recorded')
        expect(await find(one)).toEqual(one)
      })

      it('finds that the attempt has recorded a document that was deleted since', async () => {
        const one = await recorded()
        await deleteDocument(one)
        expect(await fence(one)).toBe('recorded')
        await remove(one)
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
        for (const each of [late, document(late.documentId)]) expect(await fence(each)).toBe('fenced')
        expect(await find(other)).toEqual(other)
        await remove(other)
        expect(await record(late)).toBe('exists')
      })

      it('keeps an attempt out that it met while the document was being deleted, and leaves the deletion alone', async () => {
        const one = await recorded()
        const late = document(one.documentId)
        await deleteDocument(one)
        expect(await fence(late)).toBe('fenced')
        await remove(one)
        expect(await record(late)).toBe('exists')
      })

      it('begins anew where the tombstone of a deleted document has expired', async () => {
        const one = await recorded()
        await remove(one)
        clock.nowMs += DAY_MS
        expect(await fence(one)).toBe('fenced')
        expect(await record(one)).toBe('fenced')
        const later = await recorded(document(one.documentId))
        expect(await fence(later)).toBe('recorded')
        expect((await store.rowOf(later))?.counted).toMatchObject({ attemptId: later.attemptId })
      })
    })

    describeDeletions(store)
  })
}
