import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import { readConfig } from '../../../lib/config.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { lambdaContext, restEvent } from '../../support/api/rest-event.ts'
import { createMemoryDynamoDb } from '../../support/aws/memory-dynamodb.ts'
import type { ThroughputLimits } from '../../support/dynamodb/throughput.ts'
import { createDelays, ZERO_LATENCY } from '../simulator/model.ts'
import { createRandom } from '../statistics.ts'
import { createFleet, type LambdaProcess } from './fleet.ts'
import { createInProcessHandler } from './in-process-handler.ts'
import { countLeftOpen, createClient, createProcess, prepareSdk, prepareTables } from './service.ts'
import { createSimulatedS3 } from './simulated-s3.ts'
import { createTally, type LedgerUse } from './tally.ts'
import { installVirtualClock } from './virtual-clock.ts'

export interface Scenario {
  /** When requests come, in seconds from the start. */
  arrivals: number[]
  copySeconds: number
  /** The limits of each DynamoDB item; omitted: the real ones. */
  limits?: ThroughputLimits
  /** Ends the simulation early, once it has shown what it was to show. */
  isEnough?(answer: Answered): boolean
}

export interface Answered {
  /** Seconds from the start. */
  arrived: number
  /** Seconds until the answer. */
  took: number
  status: number
  /** The reason in the answer, if it is an error. */
  reason: string | undefined
}

export interface Outcome {
  ledger: LedgerUse
  answers: Answered[]
  /** How many items only the end of their lease will remove. */
  leftOpen: number
}

const MIB = 1024 ** 2
const PLENTY = 2 ** 50
/** As in simulator/model.ts. */
export const LATENCY = { dynamoDb: { p50: 5, p99: 15 }, s3: { p50: 16, p99: 60 } }
/** How far behind a read may be if it is not strongly consistent. */
export const STALE_MS = 20
const SEED = 7
/** The first promotion makes the workspace; this is longer than its lease. */
const WARM_UP_SECONDS = 130
/** No request lasts longer. */
const LONGEST_REQUEST_SECONDS = 30
const STEP_SECONDS = 0.25

export const clock = installVirtualClock()

/**
 * One workspace: the real handler, use case, adapters and SDK clients, on a DynamoDB with the limits of the real one and an
 * S3 that takes its time, in as many processes as Lambda would start. Every run is the same, but for ids.
 */
export async function simulate(scenario: Scenario, definition: ServiceDefinition): Promise<Outcome> {
  const { arrivals, copySeconds, isEnough = () => false } = scenario
  const config = { ...readConfig(process.env), defaultQuotaBytes: PLENTY }
  // The product draws the lengths of its pauses from it.
  Math.random = createRandom(SEED)
  const tally = createTally()
  const dynamoDb = createMemoryDynamoDb({
    now: clock.now,
    staleMs: STALE_MS,
    onCall: tally.count,
    ...(scenario.limits && { limits: scenario.limits }),
  })
  const tokens = await prepareTables(dynamoDb, definition, config)
  await prepareSdk(
    config,
    createInProcessHandler(dynamoDb.store, () => 0),
  )
  const delay = createDelays({ ...ZERO_LATENCY, latency: { ...LATENCY, default: LATENCY.dynamoDb }, seed: SEED + 1 })
  const objects = createSimulatedS3({ copySeconds, sizeBytes: MIB, latencyMs: () => delay('s3', 0) })
  const network = createInProcessHandler(dynamoDb.store, () => delay('dynamoDb', 0))
  const fleet = createFleet(
    () => createProcess(config, createClient(network), objects) as unknown as LambdaProcess,
    SEED + 3,
  )

  const request = async (startMs: number, arrived: number, token = ''): Promise<Answered> => {
    const event = restEvent({
      containerId: 'sess_1',
      fileId: formatFileId('output/report.csv'),
      headers: { authorization: `Bearer ${token}` },
    })
    Object.assign(event.requestContext, { requestTimeEpoch: clock.now() })
    const { statusCode: status, body } = await fleet.invoke(event, lambdaContext)
    return {
      arrived,
      took: (clock.now() - startMs) / 1000 - arrived,
      status,
      reason: status === 200 ? undefined : JSON.parse(body).error.metadata.reason,
    }
  }
  const warmUp = request(clock.now(), 0, tokens[0])
  await clock.runUntil(clock.now() + WARM_UP_SECONDS * 1000)
  if ((await warmUp).status !== 200) throw new Error('the first promotion of the workspace failed')
  tally.reset()

  const startMs = clock.now()
  const answers: Answered[] = []
  let isOver = false
  arrivals.forEach((arrived, index) => {
    setTimeout(async () => {
      const answer = await request(startMs, arrived, tokens[index % tokens.length])
      answers.push(answer)
      isOver ||= isEnough(answer)
    }, arrived * 1000)
  })
  const lastMs = startMs + (Math.max(...arrivals.slice(-1), 0) + LONGEST_REQUEST_SECONDS) * 1000
  while (!isOver && answers.length < arrivals.length && clock.now() < lastMs) {
    await clock.runUntil(clock.now() + STEP_SECONDS * 1000)
  }
  // Taken before the look at what is left open.
  const ledger = structuredClone(tally.read())
  return { answers, leftOpen: await countLeftOpen(dynamoDb, config), ledger }
}
