import { expect, it } from 'vitest'
import { createDocumentExpiries } from '../../lib/aws/dynamodb/document-expiries.ts'
import type { DocumentExpiries } from '../../lib/ledger/ports/document-expiries.ts'
import type { DocumentRecords } from '../../lib/ledger/ports/document-records.ts'
import { createFakeDocumentExpiries } from '../support/fakes/document-expiries.ts'
import { createFakeDocumentRecords } from '../support/fakes/document-records.ts'
import { LEDGER_NOW_MS, newAttempt, newDocument, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { useStandIns } from '../support/stores/stand-ins.ts'
import { openTableStores } from '../support/stores/table-stores.ts'

const { signal } = new AbortController()
const standIns = useStandIns()
const now = () => LEDGER_NOW_MS
const [SOONER, LATER] = [10, 20].map((seconds) => new Date(LEDGER_NOW_MS + seconds * 1000)) as [Date, Date]

type Stores = { documents: Pick<DocumentRecords, 'record' | 'find'>; expiries: DocumentExpiries }
const STORES = {
  'in-memory fake': (): Stores => {
    const documents = createFakeDocumentRecords(now)
    return { documents, expiries: createFakeDocumentExpiries(documents, now) }
  },
  DynamoDB: (): Stores => {
    const { dynamoDb: client, config } = standIns()
    const expiries = createDocumentExpiries({ client, tableName: config.documentsTable, now })
    return { documents: openTableStores(standIns()).documents, expiries }
  },
}

it.each(Object.entries(STORES))('%s: an expiry is set only if it is still the one that was seen', async (_, open) => {
  const { documents, expiries } = open()
  const document = newDocument(newAttempt({ workspaceId: newWorkspaceId() }))
  await documents.record(document, signal)
  const set = (expiresAt: Date | undefined, seen?: { expiresAt?: Date }) =>
    expiries.setExpiry(document, expiresAt, signal, seen)
  const found = async () => (await documents.find(document.workspaceId, document.documentId, signal))?.expiresAt

  expect([await set(LATER, { expiresAt: SOONER }), await found()]).toEqual([false, undefined])
  expect([await set(LATER, {}), await found()]).toEqual([true, LATER])
  expect([await set(SOONER, {}), await set(SOONER, { expiresAt: SOONER }), await found()]).toEqual([
    false,
    false,
    LATER,
  ])
  expect([await set(SOONER, { expiresAt: LATER }), await found()]).toEqual([true, SOONER])
  // Whoever has seen nothing sets it in any case.
  expect([await set(undefined), await found()]).toEqual([true, undefined])
})
