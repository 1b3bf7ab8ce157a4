import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import { isThrottled } from './calls/failures.ts'

type ReadPace = ReturnType<typeof createReadPace>

/** The units that may be spent at once after a pause. */
const BURST_MS = 1000
/** The slowest pace, as a ratio of the full one. */
const SLOWEST = 1 / 32
/** From half to full pace in 25 s. */
const RECOVERY_PER_SECOND = 0.02

type PaceSettings = { unitsPerSecond: number; now?(): number; wait?(durationMs: number): Promise<unknown> }

/**
 * Keeps the reads of a process below a rate. The cost of a call is known when it is answered, so the next one waits.
 * @param settings.unitsPerSecond read units: DynamoDB's, and one for each request to S3
 */
export function createReadPace({ unitsPerSecond, now = () => performance.now(), wait = sleep }: PaceSettings) {
  let ratio = 1
  let seenAtMs = now()
  let freeAtMs = seenAtMs
  let spentUnits = 0
  const recover = () => {
    ratio = Math.min(1, ratio + ((now() - seenAtMs) / 1000) * RECOVERY_PER_SECOND)
    seenAtMs = now()
  }
  return {
    /** Resolves when the next call may go. */
    async ready(): Promise<void> {
      recover()
      const waitMs = freeAtMs - now()
      if (waitMs > 0) await wait(waitMs)
    },
    /** The cost of a call, in read units. */
    spend(units: number): void {
      recover()
      spentUnits += units
      freeAtMs = Math.max(freeAtMs, now() - BURST_MS) + (units / (unitsPerSecond * ratio)) * 1000
    },
    /** A store has throttled a call: halves the pace, which then recovers slowly. */
    slowDown(): void {
      recover()
      ratio = Math.max(SLOWEST, ratio / 2)
    },
    get spentUnits(): number {
      return spentUnits
    },
  }
}

/** Makes every call wait for the pace, and charges what DynamoDB reports as consumed, or one unit per S3 request. */
export function paceReads({ dynamoDb, s3 }: { dynamoDb: DynamoDBClient; s3: S3Client }, pace: ReadPace): void {
  const place = { step: 'initialize', name: 'readPaceMiddleware' } as const
  dynamoDb.middlewareStack.add(
    (next) => (args) => {
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' as const }
      return paced(pace, () => next({ ...args, input }))
    },
    place,
  )
  s3.middlewareStack.add((next) => (args) => paced(pace, () => next(args)), place)
}

async function paced<Result extends { output: object }>(pace: ReadPace, call: () => Promise<Result>): Promise<Result> {
  await pace.ready()
  try {
    const result = await call()
    pace.spend(unitsOf(result.output))
    return result
  } catch (error) {
    pace.spend(1)
    if (isThrottled(error)) pace.slowDown()
    throw error
  }
}

function unitsOf({ ConsumedCapacity: consumed }: { ConsumedCapacity?: { CapacityUnits?: number } }): number {
  return consumed === undefined ? 1 : (consumed.CapacityUnits ?? 0)
}
