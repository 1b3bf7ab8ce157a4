/** An item in a form that this service does not write. Only its workspace is affected: resolver and audit go on. */
export class UnreadableItemError extends Error {
  override readonly name = 'UnreadableItemError'
}

/** For a promise's catch. @returns what stands for an item that cannot be read @throws any other failure */
export const ifUnreadable =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (error instanceof UnreadableItemError) return value
    throw error
  }
