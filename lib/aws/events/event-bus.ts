import { type EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import type { BusEvent, EventBus, Refusal } from '../../events/ports.ts'
import { statusOf } from '../calls/failures.ts'
import { pause, pauseAfter, send } from '../calls/send.ts'

const SOURCE = 'container-file-promotion'
/** EventBridge, PutEvents; 256 KB until 2026, more since. */
const MOST_ENTRIES = 10
const MOST_BYTES = 256 * 1024
/** What Time and the names take. */
const BYTES_BESIDE_DETAIL = 100
/** EventBridge API reference, PutEventsResultEntry: all other codes are not worth another try. */
const PASSING = new Set(['InternalFailure', 'ThrottlingException', 'no answer'])
/** Some ten seconds. An event may come twice anyway. */
const PATIENT = { tries: 10, retryForMs: 10_000, longestPauseMs: 4000 }

type Refusals = Map<BusEvent, Refusal>

export function createEventBus({ client, eventBus }: { client: EventBridgeClient; eventBus: string }): EventBus {
  return {
    async put(events, signal) {
      const refusals: Refusals = new Map()
      await Promise.all(batchesOf(events).map((batch) => putBatch(batch, refusals, signal)))
      return refusals
    },
  }

  async function putBatch(batch: BusEvent[], refusals: Refusals, signal: AbortSignal, sent = 1): Promise<void> {
    try {
      const command = new PutEventsCommand({ Entries: batch.map(entryOf) })
      const { Entries = [] } = await send(client, command, { name: 'PutEvents', signal, ...PATIENT })
      batch.forEach((event, index) => {
        const { EventId, ErrorCode: reason = 'no answer' } = Entries[index] ?? {}
        if (EventId !== undefined) refusals.delete(event)
        else refusals.set(event, { reason, isForGood: !PASSING.has(reason) })
      })
    } catch (error) {
      // One of them spoils the call for the others.
      if (isInvalid(error) && batch.length > 1)
        await Promise.all(batch.map((event) => putBatch([event], refusals, signal, sent)))
      else
        for (const event of batch)
          refusals.set(event, { reason: (error as Error).name, error, isForGood: isInvalid(error) })
      return
    }
    const left = batch.filter((event) => refusals.get(event)?.isForGood === false)
    if (left.length === 0 || sent === PATIENT.tries || !(await pause(pauseAfter(sent, PATIENT.longestPauseMs), signal)))
      return
    await putBatch(left, refusals, signal, sent + 1)
  }

  function entryOf({ type, detail, occurredAt }: BusEvent): PutEventsRequestEntry {
    return { EventBusName: eventBus, Source: SOURCE, DetailType: type, Detail: detail, Time: occurredAt }
  }
}

/** The call can never succeed: it is too large, or an entry is no event. Not a refusal of our role: that may pass. */
const isInvalid = (error: unknown) => statusOf(error) === 413 || /^Validation/.test((error as Error).name)

function batchesOf(events: readonly BusEvent[]): BusEvent[][] {
  const batches: BusEvent[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const event of events) {
    const size = Buffer.byteLength(event.detail) + BYTES_BESIDE_DETAIL
    const last = batches.at(-1)
    const fits = last !== undefined && last.length < MOST_ENTRIES && bytes + size <= MOST_BYTES
    if (fits) last.push(event)
    else batches.push([event])
    bytes = fits ? bytes + size : size
  }
  return batches
}
