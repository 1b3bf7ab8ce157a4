import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'

/** @returns false when the condition of the write failed */
export async function isDone(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}
