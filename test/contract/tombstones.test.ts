import { describe, expect, it } from 'vitest'
import type { DocumentId } from '../../lib/ids.ts'
import { itemSizeBytes } from '../support/dynamodb/capacity.ts'
import { LEDGER_NOW_MS, newDocument, newRelease } from '../support/stores/ledger-values.ts'
import { useStoredItems } from '../support/stores/use-stored-items.ts'

const { signal } = new AbortController()
const DAY_SECONDS = 86_400

const items = useStoredItems()
const { reservation, readRecordItem } = items

describe('a tombstone', () => {
  it('fixed: that of an unfinished deletion never expires, as it proves whose the bytes are', async () => {
    const records = items.open().documents
    const one = newDocument(reservation())
    await records.record(one, signal)
    const deletion = newRelease(one, 'deletion')
    await records.retire(deletion, signal)
    await records.fence(reservation({ documentId: one.documentId }), signal)
    expect(await readRecordItem(one)).not.toHaveProperty('expires_at')
    await records.finish(deletion, signal)
    expect(await readRecordItem(one)).toMatchObject({ expires_at: { N: String(LEDGER_NOW_MS / 1000 + DAY_SECONDS) } })
  })

  it('of a fenced attempt expires in a day; a document recorded there does not inherit that', async () => {
    const records = items.open().documents
    const early = reservation()
    await records.fence(early, signal)
    expect(await readRecordItem(early)).toMatchObject({ expires_at: { N: String(LEDGER_NOW_MS / 1000 + DAY_SECONDS) } })
    const one = newDocument(reservation({ documentId: early.documentId }))
    expect(await records.record(one, signal)).toBe('recorded')
    expect(Object.keys(await readRecordItem(one))).not.toContain('expires_at')
  })
})

describe('a live document', () => {
  it('fixed: does not grow with the attempts that were fenced beside it, nor with those made before', async () => {
    const records = items.open().documents
    const { documentId } = reservation()
    const sizeOf = async () => JSON.stringify(await readRecordItem({ documentId })).length
    const sizes: number[] = []
    for (let generation = 0; generation < 5; generation++) {
      const one = newDocument(reservation({ documentId }))
      expect(await records.record(one, signal)).toBe('recorded')
      for (let i = 0; i < 10; i++) await records.fence(reservation({ documentId }), signal)
      sizes.push(await sizeOf())
      const deletion = newRelease(one, 'deletion')
      await records.retire(deletion, signal)
      await records.finish(deletion, signal)
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(10)
  })
})

describe('a document id under which documents were deleted again and again', () => {
  const HOUR_MS = 3_600_000
  let nowMs = LEDGER_NOW_MS
  const records = () => items.open(() => nowMs).documents
  const makeAndDelete = async (documentId: DocumentId, count: number, pauseMs: number) => {
    for (let i = 1; i <= count; i++) {
      const one = { ...newDocument(reservation({ documentId })), countedFrom: 10 * i }
      expect(await records().record(one, signal)).toBe('recorded')
      const deletion = newRelease(one, 'deletion')
      const retired = await records().retire(deletion, signal)
      if (!retired) throw new Error('not retired')
      await records().finish(deletion, signal, { retired, countedThrough: 10 * i + 5 })
      nowMs += pauseMs
    }
    for await (const row of records().listRows(items.workspaceId, signal))
      if (row.documentId === documentId) return row.counted
    throw new Error('no row')
  }

  it('remembers the last ten, says that there may have been more, and stays small', async () => {
    const { documentId } = reservation()
    const counted = await makeAndDelete(documentId, 12, 1000)
    const through = counted.map((each) => (each.state === 'former' ? each.countedThrough : undefined))
    expect(through).toEqual([35, 45, 55, 65, 75, 85, 95, 105, 115, 125, undefined])
    expect(counted.at(-1)).toEqual({ state: 'truncated', countedThrough: 35 })
    expect(itemSizeBytes(await readRecordItem({ documentId }))).toBeLessThan(2048)
  })

  it('remembers those of the last day', async () => {
    const counted = await makeAndDelete(reservation().documentId, 6, 9 * HOUR_MS)
    expect(counted).toMatchObject([{ countedThrough: 45 }, { countedThrough: 55 }, { countedThrough: 65 }])
  })
})
