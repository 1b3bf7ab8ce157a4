import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { createDynamoDbClient } from '../../../lib/aws/clients.ts'
import { readConfig } from '../../../lib/config.ts'
import { createPromoteContainerFileHandler } from '../../../lib/http/promotion-handler.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { lambdaContext, restEvent } from '../../support/api/rest-event.ts'
import { createMemoryDynamoDb } from '../../support/aws/memory-dynamodb.ts'
import type { Consumption, LimitedDynamoDbOptions } from '../../support/dynamodb/limited-dynamodb.ts'
import type { ThroughputLimits } from '../../support/dynamodb/throughput.ts'
import { installVirtualClock } from '../../support/virtual-clock.ts'
import { createRandom } from '../statistics.ts'
import { createLatencies, inProcessOptions } from './in-process.ts'
import { countLeftOpen, createProcess, prepareTables } from './service.ts'
import { createSimulatedS3 } from './simulated-s3.ts'

/** One process of a Lambda function: it answers one request at a time and keeps what the code keeps in memory. */
type LambdaProcess = (event: object, context: object) => Promise<APIGatewayProxyResult>

/** How long a new process takes to answer: some 0.3 s on Lambda (docs/performance.md). */
const COLD_START_MS = 300

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

/** The calls on the workspace's item, without reads. */
export interface LedgerUse {
  throttled: number
  /** Units of a write that was done. */
  largestWrite: number
}

export interface Outcome {
  ledger: LedgerUse
  answers: Answered[]
  /** How many items only the end of their lease will remove. */
  leftOpen: number
}

const MIB = 1024 ** 2
const PLENTY = 2 ** 50
const LATENCY = { dynamoDb: { p50: 5, p99: 15 }, s3: { p50: 16, p99: 60 } }
/** How far behind a read may be if it is not strongly consistent. */
const STALE_MS = 20
const SEED = 7
/** The first promotion makes the workspace; this is longer than its lease. */
const WARM_UP_SECONDS = 130
/** No request lasts longer. */
const LONGEST_REQUEST_SECONDS = 30
const STEP_SECONDS = 0.25

export const clock = installVirtualClock()

interface Stage extends Pick<Parameters<typeof createSimulatedS3>[0], 'copySeconds' | 'sizeBytes' | 'onCall'> {
  dynamoDb: Pick<LimitedDynamoDbOptions, 'limits' | 'onCall'>
}

/** DynamoDB with the tables of the template and some API keys of one workspace, and processes of the promote function. */
export async function createStage({ dynamoDb: options, ...ofS3 }: Stage) {
  const config = { ...readConfig(process.env), defaultQuotaBytes: PLENTY }
  // The product draws the lengths of its pauses from it.
  Math.random = createRandom(SEED)
  const dynamoDb = createMemoryDynamoDb({ now: clock.now, staleMs: STALE_MS, ...options })
  const tokens = await prepareTables(dynamoDb, config)
  // The SDK reads files when a client is first used, and the virtual clock waits for no file.
  await createDynamoDbClient(inProcessOptions(dynamoDb.store)).send(
    new DescribeTableCommand({ TableName: config.keysTable }),
  )
  const drawMs = createLatencies(LATENCY, SEED + 1)
  const objects = createSimulatedS3({ ...ofS3, latencyMs: () => drawMs('s3') })
  const network = inProcessOptions(dynamoDb.store, () => drawMs('dynamoDb'))
  const start = (create: Parameters<typeof createProcess>[0] = createPromoteContainerFileHandler) =>
    createProcess(create, { config, client: createDynamoDbClient(network), objects }) as LambdaProcess
  return { config, dynamoDb, tokens, start }
}

/**
 * One workspace: the real handler, use case, adapters and SDK clients, on a DynamoDB with the limits of the real one and an
 * S3 that takes its time, in as many processes as Lambda would start. Every run is the same, but for ids.
 */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const { arrivals, copySeconds, limits, isEnough = () => false } = scenario
  let ledger: LedgerUse = { throttled: 0, largestWrite: 0 }
  const onCall = ({ table, operation, units, outcome }: Consumption) => {
    if (!table.endsWith('-workspaces') || operation === 'GetItem') return
    if (outcome === 'throttled') ledger.throttled++
    else if (outcome === 'done') ledger.largestWrite = Math.max(ledger.largestWrite, units)
  }
  const stage = { copySeconds, sizeBytes: MIB, dynamoDb: { onCall, ...(limits && { limits }) } }
  const { config, dynamoDb, tokens, start } = await createStage(stage)
  const fleet = createFleet(start, SEED + 3)

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
  ledger = { throttled: 0, largestWrite: 0 }

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
  return { answers, leftOpen: await countLeftOpen(dynamoDb, config), ledger }
}

/** It is not known which idle process Lambda takes; here, it is a random one. */
function createFleet(start: () => LambdaProcess, seed: number) {
  const random = createRandom(seed)
  const idle: LambdaProcess[] = []
  const take = (): LambdaProcess | undefined => {
    const [taken] = idle.splice(Math.floor(random() * idle.length), 1)
    return taken
  }
  return {
    /** An idle process answers, or a new one if none is idle. */
    async invoke(event: object, context: () => object): Promise<APIGatewayProxyResult> {
      let lambda = take()
      if (lambda === undefined) {
        lambda = start()
        await new Promise((resolve) => setTimeout(resolve, COLD_START_MS))
      }
      // The context is made only now: the time a request may take begins when the process does.
      const answer = await lambda(event, context())
      idle.push(lambda)
      return answer
    },
  }
}
