import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type BreakableDynamoDb, startBreakableDynamoDb } from './breakable-dynamodb.ts'
import { createTestStores, type TestStores } from './test-stores.ts'

interface DynamoDbBehindFaults {
  stores: TestStores
  /** Breaks nothing at the beginning of each test. */
  broken: BreakableDynamoDb
}

/** For all tests of a file. @returns what is there once they run */
export function useDynamoDbBehindFaults(): DynamoDbBehindFaults {
  const used = {} as DynamoDbBehindFaults
  beforeAll(async () => {
    used.stores = await createTestStores()
    used.broken = await startBreakableDynamoDb(used.stores.stores.dynamoDb)
  })
  afterAll(() => used.broken.stop())
  beforeEach(() => {
    used.broken.fault = () => undefined
  })
  return used
}
