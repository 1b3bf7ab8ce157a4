import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createApiKeyAdministration } from '../../lib/aws/dynamodb/api-key-administration.ts'
import { createApiKeyStore } from '../../lib/aws/dynamodb/api-key-store.ts'
import { createRateLimiter } from '../../lib/aws/dynamodb/rate-limiter.ts'
import { type StandIns, startStandIns } from '../support/stores/stand-ins.ts'
import { type MakeTableStores, openTableStores } from '../support/stores/table-stores.ts'
import { describeApiKeyAdministration } from './api-key-administration.contract.ts'
import { describeContainerFiles } from './container-files.contract.ts'
import { describeDocumentListing } from './document-listing.contract.ts'
import { describeDocumentMaintenance } from './document-maintenance.contract.ts'
import { describeDocuments } from './documents.contract.ts'
import { describeDueWork } from './due-work.contract.ts'
import { describeLedger } from './ledger.contract.ts'
import { describeLedgerMaintenance } from './ledger-maintenance.contract.ts'
import { describeLedgerSettings } from './ledger-settings.contract.ts'
import { describeObjectStore } from './object-store.contract.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'
import { containerFilesOn, objectStoreOn } from './s3-harnesses.ts'

let standIns: StandIns
beforeAll(async () => {
  standIns = await startStandIns()
})
afterAll(() => standIns.stop())

const open: MakeTableStores = (now) => openTableStores(standIns, now)
describeLedger('DynamoDB', open)
describeLedgerMaintenance('DynamoDB', open)
describeLedgerSettings('DynamoDB', open)
describeDocuments('DynamoDB', open)
describeDueWork('DynamoDB', open)
describeDocumentMaintenance('DynamoDB', open)
describeDocumentListing('DynamoDB', open)

describeApiKeyAdministration('DynamoDB', () => {
  const settings = { client: standIns.dynamoDb, tableName: standIns.config.keysTable }
  return { administration: createApiKeyAdministration(settings), store: createApiKeyStore(settings) }
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
      expect(Item?.ttl_at).toEqual({ N: String(nowMs / 1000 + seconds) })
    }
  })
})

it('a wait whose answer was lost has its own place, and no other, whatever begins in the same millisecond', async ({
  onTestFinished,
}) => {
  let random = 0.5
  const spied = vi.spyOn(Math, 'random').mockImplementation(() => (random += 1e-9))
  onTestFinished(() => spied.mockRestore())
  const { dynamoDb, config } = standIns
  let lost = 0
  const client = Object.assign(Object.create(dynamoDb), {
    async send(...args: Parameters<typeof dynamoDb.send>) {
      const answer = await dynamoDb.send(...args)
      if (lost++ === 0) throw Object.assign(new Error('lost'), { name: 'TimeoutError' })
      return answer
    },
  })
  const policy = { requestsPerMinute: 30, burst: 1 }
  const limiter = createRateLimiter({ client, tableName: config.rateLimitsTable, policy, now: () => 1_800_000_000_000 })
  const beginWait = () => limiter.beginWait('key_lost', 60_000, AbortSignal.timeout(60_000))
  expect([await beginWait(), lost]).toEqual([{ end: expect.any(Function) }, 2])
  expect(await beginWait()).toHaveProperty('retryAfterMs')
})

describeObjectStore('S3', () => objectStoreOn(standIns))
