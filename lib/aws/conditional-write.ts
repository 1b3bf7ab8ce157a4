import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'

/** @property item the item as it was, where the command asks for it by ReturnValuesOnConditionCheckFailure and there is one */
export type ConditionalOutcome<Output> =
  | { held: true; output: Output }
  | { held: false; item: Record<string, AttributeValue> | undefined }

/** A write whose condition may fail: that is an outcome, not an error. Anything else that it throws passes. */
export async function conditionally<Output>(write: Promise<Output>): Promise<ConditionalOutcome<Output>> {
  try {
    return { held: true, output: await write }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { held: false, item: error.Item }
    throw error
  }
}

/** @returns whether the condition of the write held, so that it was done */
export async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  return (await conditionally(write)).held
}
