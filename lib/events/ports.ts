/** An event as it is put: `detail` is JSON. */
export interface BusEvent {
  type: 'document.promoted' | 'document.deleted' | 'document.expired' | 'workspace.erased'
  detail: string
  occurredAt: Date
}

/** @property isForGood repeating it would not help */
export type Refusal = { reason: string; isForGood: boolean; error?: unknown }

export interface EventBus {
  /** Puts each at least once, in no order. @returns those that were refused; all others are on the bus */
  put(events: readonly BusEvent[], signal: AbortSignal): Promise<ReadonlyMap<BusEvent, Refusal>>
}

/** Keeps what can be put on no bus, whole, for people. */
export interface KeptRecords {
  /** @throws when it is not kept */
  keep(record: unknown, reason: string, signal: AbortSignal): Promise<void>
}
