import type { Log } from '../logging.ts'
import type { BusEvent, EventBus, KeptRecords, Refusal } from './ports.ts'

interface PublishDependencies<StreamRecord> {
  /** @returns undefined: it is no event @throws when it cannot be read */
  eventOf(record: StreamRecord): BusEvent | undefined
  bus: EventBus
  kept: KeptRecords
  log: Log
}

/**
 * Puts an event on the bus for each document that was made or has ended. What can never be put is kept elsewhere and
 * counts as done, so that it holds nobody up.
 * @returns the first record that was not done: it, and all after it, are to come again
 */
export async function publishEvents<StreamRecord>(
  records: readonly StreamRecord[],
  { eventOf, bus, kept, log }: PublishDependencies<StreamRecord>,
  signal: AbortSignal,
): Promise<StreamRecord | undefined> {
  const read = records.map((record): { record: StreamRecord; event?: BusEvent | undefined; refusal?: Refusal } => {
    try {
      return { record, event: eventOf(record) }
    } catch (error) {
      return { record, refusal: { reason: (error as Error).message, isForGood: true } }
    }
  })
  const events = read.flatMap(({ event }) => event ?? [])
  const refusals = await bus.put(events, signal)
  for (const { record, event, refusal: unreadable } of read) {
    const refusal = unreadable ?? (event && refusals.get(event))
    if (refusal === undefined || (refusal.isForGood && (await isKept(record, refusal)))) continue
    log.warn('event not put for now', { ...refusal })
    return record
  }
  return undefined

  async function isKept(record: StreamRecord, { reason }: Refusal): Promise<boolean> {
    try {
      await kept.keep(record, reason, signal)
      log.error('event not put: its record is in the queue', { reason })
      return true
    } catch (error) {
      log.error('record not kept', { reason, error })
      return false
    }
  }
}
