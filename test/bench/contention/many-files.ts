import { subscribe } from 'node:diagnostics_channel'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import type { AwsCallMessage } from '../../../lib/aws/calls/send.ts'
import { readConfig } from '../../../lib/config.ts'
import { OPERATIONS } from '../../support/api/operations.ts'
import { lambdaContext, routeEvent } from '../../support/api/rest-event.ts'
import { createMemoryDynamoDb } from '../../support/aws/memory-dynamodb.ts'
import { createDelays, ZERO_LATENCY } from '../simulator/model.ts'
import { createRandom } from '../statistics.ts'
import { createInProcessHandler } from './in-process-handler.ts'
import { createClient, createProcess, prepareSdk, prepareTables } from './service.ts'
import { createSimulatedS3 } from './simulated-s3.ts'
import { clock, LATENCY, STALE_MS } from './simulation.ts'

export interface ManyFiles {
  seconds: number
  /** By what the answer says of the files. */
  outcomes: Record<string, number>
  /** Besides those for the request as a whole. */
  calls: number
  /** Writes of DynamoDB by table; BatchGetItem is no write. */
  writes: Record<string, number>
}

/** All others are the request's: key, rate limit, looks for earlier documents; and the making of the ledger. */
const OF_FILES = /^(ledger\.(take|unmark)|documents\.(begin|record)|.*Object)$/
const SEED = 7
const SIZE_BYTES = 4096
const COPY_SECONDS = 0.025
const STEP_MS = 50

/** One request for so many files, and the same again: the real handler and adapters, on a virtual clock. */
export async function promoteMany({ files }: { files: number }, definition: ServiceDefinition): Promise<ManyFiles[]> {
  const config = readConfig(process.env)
  Math.random = createRandom(SEED)
  let seen: ManyFiles = { seconds: 0, outcomes: {}, calls: 0, writes: {} }
  const dynamoDb = createMemoryDynamoDb({
    now: clock.now,
    staleMs: STALE_MS,
    onCall({ operation, table }) {
      const name = table.replace(/^.*-local-/, '')
      if (operation !== 'GetItem') seen.writes[name] = (seen.writes[name] ?? 0) + 1
    },
  })
  const [token = ''] = await prepareTables(dynamoDb, definition, config)
  const instant = createInProcessHandler(dynamoDb.store, () => 0)
  await prepareSdk(config, instant)
  const delay = createDelays({ ...ZERO_LATENCY, latency: { ...LATENCY, default: LATENCY.dynamoDb }, seed: SEED + 1 })
  const network = createInProcessHandler(dynamoDb.store, () => delay('dynamoDb', 0))
  const count = (name: string) => {
    if (OF_FILES.test(name)) seen.calls++
  }
  subscribe('container-file-promotion:aws-call', (message) => count((message as AwsCallMessage).name))
  const s3 = createSimulatedS3({ copySeconds: COPY_SECONDS, sizeBytes: SIZE_BYTES, latencyMs: () => delay('s3', 0) })
  const counted: typeof s3 = {
    ...s3,
    findContainerFile(...args) {
      count('HeadObject')
      return s3.findContainerFile(...args)
    },
    copy(...args) {
      count('CopyObject')
      return s3.copy(...args)
    },
  }
  const handler = createProcess(config, createClient(network), counted) as unknown as (
    ...args: unknown[]
  ) => Promise<APIGatewayProxyResult>
  const all = Array.from({ length: files }, (_, number) => `output/${number}.json`)
  const found: ManyFiles[] = []
  // The first promotion makes the workspace.
  for (const paths of [['warm-up.json'], all, all]) {
    seen = { seconds: 0, outcomes: {}, calls: 0, writes: {} }
    const event = routeEvent(OPERATIONS.promote_container_files, {
      parameters: { container_id: 'sess_1' },
      headers: { authorization: `Bearer ${token}` },
      body: { paths },
    })
    const startMs = clock.now()
    let answer: APIGatewayProxyResult | undefined
    void handler(event, lambdaContext()).then((answered) => {
      seen.seconds = (clock.now() - startMs) / 1000
      answer = answered
    })
    while (!answer) await clock.runUntil(clock.now() + STEP_MS)
    for (const { outcome } of JSON.parse(answer.body).data ?? []) {
      seen.outcomes[outcome] = (seen.outcomes[outcome] ?? 0) + 1
    }
    found.push(seen)
  }
  return found.slice(1)
}
