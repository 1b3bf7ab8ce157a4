import { describe, expect, it } from 'vitest'
import { createDocumentRecords } from '../../lib/aws/dynamodb/document-records.ts'
import { clientOf, conditionFailed } from '../support/stores/client-of.ts'
import { LEDGER_NOW_MS, newDocument, newRelease } from '../support/stores/ledger-values.ts'
import { DAY_MS } from '../support/stores/use-documents.ts'
import { useStoredItems } from '../support/stores/use-stored-items.ts'

const { signal } = new AbortController()
const IN_A_DAY = { N: String((LEDGER_NOW_MS + DAY_MS) / 1000) }

const items = useStoredItems()
const { reservation, readRecordItem } = items
const deletionOf = (one: ReturnType<typeof newDocument>) => ({ ...newRelease(one, 'deletion'), markedIn: 9 })

describe('a tombstone', () => {
  it('fixed: that of an unfinished deletion never expires, as it proves whose the bytes are', async () => {
    const records = items.open().documents
    const one = newDocument(reservation())
    await records.record(one, signal)
    const deletion = deletionOf(one)
    await records.delete(one, signal)
    await records.fence(reservation({ documentId: one.documentId }), signal)
    await records.handOver(deletion, signal)
    expect(await readRecordItem(one)).not.toHaveProperty('ttl_at')
    await records.expireTombstone(deletion, signal)
    expect(await readRecordItem(one)).toMatchObject({ ttl_at: IN_A_DAY })
  })

  it('of a fenced attempt expires in a day; a document recorded there does not inherit that', async () => {
    const records = items.open().documents
    const early = reservation()
    await records.fence(early, signal)
    expect(await readRecordItem(early)).toMatchObject({ ttl_at: IN_A_DAY })
    const one = newDocument(reservation({ documentId: early.documentId }))
    expect(await records.record(one, signal)).toBe('recorded')
    expect(Object.keys(await readRecordItem(one))).not.toContain('ttl_at')
  })

  it('leaves nothing to what is written over it once it has expired: neither to a document nor to a fence', async () => {
    const { documentId } = reservation()
    const keysAfter: string[][] = []
    for (const [days, what] of ['whole', 'fence', 'whole', 'bare'].entries()) {
      const records = items.open(() => LEDGER_NOW_MS + 2 * days * DAY_MS).documents
      const { sha256, contentEncoding, ...bare } = newDocument(reservation({ documentId }))
      const whole = { ...bare, sha256, contentEncoding, expiresAt: new Date(LEDGER_NOW_MS) }
      const one = { ...(what === 'bare' ? bare : whole), countedFrom: 7 }
      await (what === 'fence' ? records.fence({ ...one, leaseExpiresAtMs: 0 }, signal) : records.record(one, signal))
      keysAfter.push(Object.keys(await readRecordItem(one)).toSorted())
      await records.delete(one, signal)
      const deletion = deletionOf(one)
      await records.handOver(deletion, signal)
      await records.expireTombstone(deletion, signal)
    }
    const [first = [], fence, second, last] = keysAfter
    const optional = ['content_encoding', 'due_at', 'due_shard', 'sha256']
    expect(first.filter((key) => optional.includes(key))).toEqual(optional)
    expect(fence).toEqual(['document_id', 'fenced_through', 'record_kind', 'ttl_at', 'workspace_id'])
    expect(second).toEqual([...first, 'fenced_through'].toSorted())
    expect(last).toEqual(second?.filter((key) => !optional.includes(key)))
  })

  it('that DynamoDB removes while an attempt is fenced beside it is not made anew', async () => {
    const { client, sent } = clientOf({ UpdateItemCommand: () => conditionFailed() })
    const records = createDocumentRecords({ client, tableName: 'documents', now: Date.now })
    expect(await records.fence(reservation(), signal)).toBe('fenced')
    const conditions = sent.map(({ input }) => input.ConditionExpression)
    expect(conditions).toEqual([expect.any(String), expect.stringMatching(/^attribute_exists\(document_id\) AND /)])
  })
})
