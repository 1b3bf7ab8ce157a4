import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { isThrottled } from './send.ts'

/** @property item what failed the condition, if the command asks for it (ReturnValuesOnConditionCheckFailure) */
export type ConditionalOutcome<Output> =
  | { held: true; output: Output }
  | { held: false; item: Record<string, AttributeValue> | undefined }

/** A failed condition is an outcome here, not an error. Other errors are rethrown. */
export async function conditionally<Output>(write: Promise<Output>): Promise<ConditionalOutcome<Output>> {
  try {
    return { held: true, output: await write }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { held: false, item: error.Item }
    throw error
  }
}

/** @returns whether the condition held and the write was done */
export async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  return (await conditionally(write)).held
}

/** For a write that DynamoDB may throttle: then it was certainly not applied. */
export async function unlessThrottled<Output>(
  write: Promise<Output>,
): Promise<ConditionalOutcome<Output> | 'throttled'> {
  try {
    return await conditionally(write)
  } catch (error) {
    if (isThrottled(error)) return 'throttled'
    throw error
  }
}
