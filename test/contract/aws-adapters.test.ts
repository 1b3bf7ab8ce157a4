import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashToken, newToken } from '../../lib/auth/api-token.ts'
import { createApiKeyAdministration } from '../../lib/aws/api-key-administration.ts'
import { type ApiKeyItem, createApiKeyStore } from '../../lib/aws/api-key-store.ts'
import { createRateLimiter } from '../../lib/aws/rate-limiter.ts'
import { createTableWorkspaces } from '../../lib/aws/table-workspaces.ts'
import { newDocument, newReservation } from '../support/stores/ledger-values.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'
import { openTableStores } from '../support/stores/table-stores.ts'
import { describeApiKeyAdministration } from './api-key-administration.contract.ts'
import { describeApiKeyStore } from './api-key-store.contract.ts'
import { describeContainerFiles } from './container-files.contract.ts'
import { describeDocumentListing } from './document-listing.contract.ts'
import { describeDocumentMaintenance } from './document-maintenance.contract.ts'
import { describeDocumentRecords } from './document-records.contract.ts'
import { describeLedgerMaintenance } from './ledger-maintenance.contract.ts'
import { describeObjectStore } from './object-store.contract.ts'
import { describeQuotaLedger } from './quota-ledger.contract.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'
import { describeReservations } from './reservations.contract.ts'
import { containerFilesOn, objectStoreOn } from './s3-harnesses.ts'
import { describeShares } from './shares.contract.ts'
import { describeWorkspaceAdministration } from './workspace-administration.contract.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const open = (now?: () => number) => openTableStores(standIns, now)
const openLedger = () => open().ledger

describeQuotaLedger('DynamoDB', openLedger)
describeLedgerMaintenance('DynamoDB', openLedger)
describeWorkspaceAdministration('DynamoDB', openLedger)

const once = AbortSignal.timeout(600_000)
describeShares('Workspaces', () => {
  const ledger = openLedger()
  return {
    list: (share, signal) => ledger.list(signal, share),
    add: async (workspaceId) => void (await ledger.create(workspaceId, 1000, once)),
  }
})
describeShares('Documents', () => {
  const table = { client: standIns.dynamoDb, tableName: standIns.config.documentsTable }
  const { documents } = open()
  const { listWorkspaces, hasWorkspace } = createTableWorkspaces({
    ...table,
    sortKey: 'document_id',
    name: 'documents',
  })
  return {
    list: listWorkspaces,
    has: hasWorkspace,
    add: async (workspaceId) => {
      for (let row = 0; row < 3; row++) await documents.record(newDocument(newReservation({ workspaceId })), once)
    },
  }
})
describeShares('Reservations', () => {
  const table = { client: standIns.dynamoDb, tableName: standIns.config.reservationsTable }
  const { reservations } = open()
  const sortKey = 'reservation_id'
  const { listWorkspaces, hasWorkspace } = createTableWorkspaces({ ...table, sortKey, name: 'reservations' })
  return {
    list: listWorkspaces,
    has: hasWorkspace,
    add: async (workspaceId) => {
      for (let row = 0; row < 3; row++) await reservations.open(newReservation({ workspaceId }), false, once)
    },
  }
})

describeReservations('DynamoDB', () => open().reservations)

describeApiKeyAdministration('DynamoDB', () => {
  const settings = { client: standIns.dynamoDb, tableName: standIns.config.keysTable }
  return { administration: createApiKeyAdministration(settings), store: createApiKeyStore(settings) }
})

describeDocumentRecords('DynamoDB', (now) => open(now).documents)
describeDocumentMaintenance('DynamoDB', (now) => open(now).documents)

describeDocumentListing('DynamoDB', (now) => {
  const { documents: records, listing } = open(now)
  return { records, listing }
})

describeContainerFiles('S3', () => containerFilesOn(standIns))

describeRateLimiter('DynamoDB', (policy, now) =>
  createRateLimiter({ client: standIns.dynamoDb, tableName: standIns.config.rateLimitsTable, policy, now }),
)

describe('the state of a rate limit', () => {
  it.each([
    [
      'seven days and more, where the burst takes that long to come back',
      { requestsPerMinute: 1, burst: 10_000 },
      600_000,
    ],
    ['a day at least', { requestsPerMinute: 600, burst: 100 }, 86_400],
  ])('is kept %s, by its first write and by the next', async (_, policy, seconds) => {
    const { dynamoDb: client, config } = standIns
    const nowMs = 1_800_000_000_000
    const limiter = createRateLimiter({ client, tableName: config.rateLimitsTable, policy, now: () => nowMs })
    const keyId = `key_${policy.burst}`
    for (let write = 0; write < 2; write++) {
      await limiter.take(keyId, AbortSignal.timeout(5000))
      const Key = marshall({ key_id: keyId })
      const { Item } = await client.send(new GetItemCommand({ TableName: config.rateLimitsTable, Key }))
      expect(Item?.expires_at).toEqual({ N: String(nowMs / 1000 + seconds) })
    }
  })
})

describeApiKeyStore('DynamoDB', () => {
  const { dynamoDb: client, config } = standIns
  return {
    store: createApiKeyStore({ client, tableName: config.keysTable }),
    async add(key) {
      const token = newToken()
      const item: ApiKeyItem = {
        token_hash: hashToken(token),
        key_id: key.keyId,
        workspace_id: key.workspaceId,
        kind: key.kind,
        permissions: [...key.permissions],
        status: key.isEnabled ? 'enabled' : 'disabled',
        created_at: '2026-11-21T09:38:35.556Z',
        ...(key.userId === undefined ? {} : { user_id: key.userId }),
        ...(key.expiresAtMs === undefined ? {} : { expires_at: key.expiresAtMs }),
      }
      await client.send(new PutItemCommand({ TableName: config.keysTable, Item: marshall(item) }))
      return token
    },
  }
})

describeObjectStore('S3', () => objectStoreOn(standIns))
