import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { newDocument, newReservation, newWorkspaceId } from '../support/stores/ledger-values.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'
import { openTableStores } from '../support/stores/table-stores.ts'
import { describeApiKeyAdministration } from './api-key-administration.contract.ts'
import { describeDocumentMaintenance } from './document-maintenance.contract.ts'
import { describeDocumentRecords } from './document-records.contract.ts'
import { describeQuotaLedger } from './quota-ledger.contract.ts'
import { describeReservations } from './reservations.contract.ts'
import { describeWorkspaceAdministration } from './workspace-administration.contract.ts'

/**
 * The contracts whose reads are all strongly consistent, on a DynamoDB in which any other read knows nothing of the test. Left
 * out: the listings and what is due, which read indexes, and the rate limiter, which only writes.
 */
const STALE_MS = 3_600_000
const STORE = 'a DynamoDB whose weak reads are an hour behind'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns(undefined, { now: Date.now, staleMs: STALE_MS })
})
afterAll(() => standIns.stop())

const open = (now?: () => number) => openTableStores(standIns, now)
const openLedger = () => {
  const { ledger } = open()
  return {
    ...ledger,
    // The one that may be behind, since it is for headers: the contracts look here instead.
    async usage(...[workspaceId, signal]: Parameters<typeof ledger.read>) {
      const read = await ledger.read(workspaceId, signal)
      return read && { quotaBytes: read.quotaBytes, usedBytes: read.usedBytes }
    },
  }
}

describeQuotaLedger(STORE, openLedger)
describeWorkspaceAdministration(STORE, openLedger)

describeReservations(STORE, () => open().reservations)

describeDocumentRecords(STORE, (now) => open(now).documents)
describeDocumentMaintenance(STORE, (now) => open(now).documents)

describeApiKeyAdministration(STORE, () => {
  const settings = { client: standIns.dynamoDb, tableName: standIns.config.keysTable }
  return { administration: createApiKeyAdministration(settings), store: createApiKeyStore(settings) }
})

describe(`lists on ${STORE}`, () => {
  const { signal } = new AbortController()
  const workspaceIdsOf = async (ledgers: AsyncIterable<string | { workspaceId: string }>) => {
    const ids: string[] = []
    for await (const each of ledgers) ids.push(typeof each === 'string' ? each : each.workspaceId)
    return ids
  }

  it('name every workspace that there is', async () => {
    const ledger = openLedger()
    const workspaceId = newWorkspaceId()
    await ledger.create(workspaceId, 500, signal)
    expect(await workspaceIdsOf(ledger.list(signal))).toContain(workspaceId)
    expect(await workspaceIdsOf(ledger.readAll(signal))).toContain(workspaceId)
  })

  it('go on behind a document that was just recorded, and find documents by their ids', async () => {
    const { documents, listing } = open()
    const document = newDocument(newReservation({ workspaceId: newWorkspaceId() }))
    const { workspaceId, documentId, createdAt } = document
    await documents.record(document, signal)
    expect(await listing.positionOf(workspaceId, documentId, signal)).toEqual({ documentId, createdAt })
    expect(await listing.findAll(workspaceId, [documentId], signal)).toMatchObject([{ documentId }])
  })
})
