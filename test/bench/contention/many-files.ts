import { subscribe } from 'node:diagnostics_channel'
import type { AwsCallMessage } from '../../../lib/aws/calls/send.ts'
import { createWriteContainerFilesHandler } from '../../../lib/http/handlers.ts'
import { OPERATIONS } from '../../support/api/operations.ts'
import { lambdaContext, routeEvent } from '../../support/api/rest-event.ts'
import type { Consumption } from '../../support/dynamodb/limited-dynamodb.ts'
import { NEXT } from './simulated-s3.ts'
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

/** One request for so many files, the same again, and one that puts them back: the real handlers and adapters, on a virtual clock. */
export async function promoteMany({ files }: { files: number }): Promise<ManyFiles[]> {
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
  const { tokens, start } = await createStage(stage)
  const [promote, putBack] = [start(), start(createWriteContainerFilesHandler)]
  const all = Array.from({ length: files }, (_, number) => `output/${number}.json`)
  const ask = async (handler: typeof promote, container_id: string, body: object) => {
    seen = { seconds: 0, outcomes: {}, calls: 0, writes: {} }
    const operation = OPERATIONS[handler === promote ? 'promote_container_files' : 'restore_container_files']
    const headers = { authorization: `Bearer ${tokens[0]}` }
    const event = routeEvent(operation, { parameters: { container_id }, headers, body })
    const startMs = clock.now()
    const answering = handler(event, lambdaContext()).then((answered) => {
      seen.seconds = (clock.now() - startMs) / 1000
      return answered
    })
    const answer = await clock.runUntilDone(answering)
    const { data = [] } = JSON.parse(answer.body) as { data?: { outcome: string; document?: { id: string } }[] }
    for (const { outcome } of data) seen.outcomes[outcome] = (seen.outcomes[outcome] ?? 0) + 1
    return { seen, ids: data.flatMap(({ document }) => document?.id ?? []) }
  }
  // The first promotion makes the workspace.
  await ask(promote, 'sess_1', { paths: ['warm-up.json'] })
  const [first, again] = [await ask(promote, 'sess_1', { paths: all }), await ask(promote, 'sess_1', { paths: all })]
  const restored = await ask(putBack, NEXT, { files: first.ids.map((file_id) => ({ file_id })) })
  return [first.seen, again.seen, restored.seen]
}
