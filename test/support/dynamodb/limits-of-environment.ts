import type { LimitedDynamoDbOptions } from './limited-dynamodb.ts'
import { DYNAMODB_LIMITS } from './throughput.ts'

/**
 * With LIMITED_DYNAMODB set, suites run on a DynamoDB with the limits of the real one; it says by how many ms indexes
 * and reads that are not strongly consistent lag. LIMITED_DYNAMODB_UNITS lowers an item's write units a second, so that
 * even a small machine is throttled.
 */
export function limitsOfEnvironment(): LimitedDynamoDbOptions | undefined {
  const { LIMITED_DYNAMODB, LIMITED_DYNAMODB_UNITS } = process.env
  if (LIMITED_DYNAMODB === undefined) return undefined
  const writeUnitsPerSecond = Number(LIMITED_DYNAMODB_UNITS ?? DYNAMODB_LIMITS.writeUnitsPerSecond)
  return { now: Date.now, staleMs: Number(LIMITED_DYNAMODB), limits: { ...DYNAMODB_LIMITS, writeUnitsPerSecond } }
}
