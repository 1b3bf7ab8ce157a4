import { subscribe } from 'node:diagnostics_channel'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { ServiceDefinition } from '../../../infra/deploy/service-definition.ts'
import type { AwsCallMessage } from '../../../lib/aws/calls/send.ts'
import { OPERATIONS } from '../../support/api/operations.ts'
import { lambdaContext, routeEvent } from '../../support/api/rest-event.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { clock, createStage } from './simulation.ts'

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
const OF_FILES = /^(ledger\.(hold|capture)|documents\.(begin|record)|.*Object)$/
const SIZE_BYTES = 4096
const COPY_SECONDS = 0.025
const STEP_MS = 50

/** One request for so many files, and the same again: the real handler and adapters, on a virtual clock. */
export async function promoteMany({ files }: { files: number }, definition: ServiceDefinition): Promise<ManyFiles[]> {
  let seen: ManyFiles = { seconds: 0, outcomes: {}, calls: 0, writes: {} }
  const count = (name: string) => {
    if (OF_FILES.test(name)) seen.calls++
  }
  subscribe('container-file-promotion:aws-call', (message) => count((message as AwsCallMessage).name))
  const onCall = ({ operation, table }: Consumption) => {
    const name = table.replace(/^.*-local-/, '')
    if (operation !== 'GetItem') seen.writes[name] = (seen.writes[name] ?? 0) + 1
  }
  const stage = { copySeconds: COPY_SECONDS, sizeBytes: SIZE_BYTES, onCall: count, dynamoDb: { onCall } }
  const { tokens, start } = await createStage(stage, definition)
  const handler = start()
  const all = Array.from({ length: files }, (_, number) => `output/${number}.json`)
  const found: ManyFiles[] = []
  // The first promotion makes the workspace.
  for (const paths of [['warm-up.json'], all, all]) {
    seen = { seconds: 0, outcomes: {}, calls: 0, writes: {} }
    const event = routeEvent(OPERATIONS.promote_container_files, {
      parameters: { container_id: 'sess_1' },
      headers: { authorization: `Bearer ${tokens[0]}` },
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
