/** An item in a form that this service does not write. Only its workspace is affected: resolver and audit go on. */
export class UnreadableItemError extends Error {
  override readonly name = 'UnreadableItemError'
}
