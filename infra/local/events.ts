import { createHash, randomUUID } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBBatchResponse } from 'aws-lambda'
import type { StreamRecord } from '../../lib/aws/dynamodb/stream-record.ts'
import { startStandIn } from './loopback.ts'

type Image = NonNullable<StreamRecord['dynamodb']>['NewImage'] | null

const PAUSE_MS = 1000

/** Stands for the bus and the queue: what the function publish-events puts is appended to events.ndjson. */
export async function startEvents(options: { directory: string; onEvent?: ((line: string) => void) | undefined }) {
  const { directory, onEvent } = options
  const file = join(directory, 'events.ndjson')

  async function put(entries: { Source: string; DetailType: string; Detail: string; Time: number }[]) {
    // As EventBridge gives them to targets.
    const events = entries.map(({ Source: source, DetailType, Detail, Time }) => ({
      ...{ version: '0', id: randomUUID(), 'detail-type': DetailType, source, account: '000000000000' },
      ...{ time: new Date(Time * 1000).toISOString(), region: 'local', resources: [], detail: JSON.parse(Detail) },
    }))
    await appendFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { mode: 0o600 })
    for (const { 'detail-type': type, detail } of events)
      onEvent?.([type, detail.workspace_id, detail.document_id, detail.filename].filter(Boolean).join('  '))
    return { FailedEntryCount: 0, Entries: events.map(({ id }) => ({ EventId: id })) }
  }

  function keep(message: string) {
    onEvent?.(`no event, but kept: ${JSON.parse(message).reason}`)
    return { MessageId: randomUUID(), MD5OfMessageBody: createHash('md5').update(message).digest('hex') }
  }

  const server = createServer(async (asked, answered) => {
    type Asked = { Entries?: Parameters<typeof put>[0]; MessageBody: string }
    const answering = async ({ Entries, MessageBody }: Asked) => (Entries ? put(Entries) : keep(MessageBody))
    const answer = await (json(asked) as Promise<Asked>).then(answering).catch(({ message }: Error) => ({ message }))
    answered.writeHead('message' in answer ? 500 : 200, { 'content-type': 'application/json' })
    answered.end(JSON.stringify(answer))
  })
  const { endpoint, stop } = await startStandIn(server, 0)
  const environment = {
    ...{ AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint, AWS_ENDPOINT_URL_SQS: endpoint },
    ...{ EVENT_BUS: 'local', EVENTS_QUEUE_URL: `${endpoint}/000000000000/events` },
  }
  return { environment, stop }
}

/** Stands for the stream and its mapping: hands the writes that may be events to the function, until it has done them. */
export function createStream(invoke: (event: { Records: StreamRecord[] }) => Promise<unknown>) {
  let waiting: StreamRecord[] = []
  let isRunning = false
  let written = 0

  async function run(): Promise<void> {
    for (isRunning = true; waiting.length > 0; ) {
      const Records = waiting.slice()
      // The functions' process may be starting again.
      const answer = (await invoke({ Records }).catch(() => undefined)) as DynamoDBBatchResponse | undefined
      const failed = answer ? answer.batchItemFailures[0]?.itemIdentifier : Records[0]?.dynamodb?.SequenceNumber
      const done = Records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === failed)
      waiting = waiting.slice(failed === undefined ? Records.length : done)
      if (failed !== undefined) await sleep(PAUSE_MS, undefined, { ref: false })
    }
    isRunning = false
  }

  return {
    add(OldImage: Image, NewImage: Image): void {
      const isEvent = OldImage && NewImage && OldImage.item_state?.S !== NewImage.item_state?.S
      if (!isEvent || !/^(ready|deleting)$/.test(`${NewImage.item_state?.S}`)) return
      const SequenceNumber = String(++written)
      const ApproximateCreationDateTime = Math.floor(Date.now() / 1000)
      waiting.push({ dynamodb: { OldImage, NewImage, SequenceNumber, ApproximateCreationDateTime } })
      if (!isRunning) void run()
    },
    /** Loses what is still waiting. */
    async stop(): Promise<void> {
      waiting = []
    },
  }
}
