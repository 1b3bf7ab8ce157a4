import { type HeadObjectCommandOutput, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { lookAt } from './copy-requests.ts'
import { send, statusOf } from './send.ts'

const LISTING_TIMEOUT_MS = 3000

/**
 * Looks at an object that may well be missing. For a missing key S3 answers 404 to those who may list the bucket, else
 * 403 (S3 API Reference, HeadObject). Our roles may list it under the prefixes of the key templates, and it is not
 * documented whether a request without a prefix meets that condition. A listing with the key as its prefix is allowed
 * either way.
 * @param onRefused called when S3 answered 403 for a key that does not exist
 * @returns undefined when there is no such object
 */
export async function lookForObject(
  client: S3Client,
  object: { Bucket: string; Key: string },
  signal: AbortSignal,
  onRefused?: () => void,
): Promise<HeadObjectCommandOutput | undefined> {
  try {
    return await lookAt(client, object, signal)
  } catch (error) {
    if (statusOf(error) !== 403 || (await isListed(client, object, signal))) throw error
    onRefused?.()
    return undefined
  }
}

/** false also when the listing is refused: then nothing is known, and the first refusal stands. */
async function isListed(
  client: S3Client,
  { Bucket, Key }: { Bucket: string; Key: string },
  signal: AbortSignal,
): Promise<boolean> {
  const command = new ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 1 })
  try {
    const { Contents = [] } = await send(client, command, {
      name: 'ListObjectsV2',
      signal,
      requestTimeoutMs: LISTING_TIMEOUT_MS,
    })
    // Among all keys that begin with it, the key itself comes first.
    return Contents[0]?.Key === Key
  } catch (error) {
    if (statusOf(error) === 403) return true
    throw error
  }
}
