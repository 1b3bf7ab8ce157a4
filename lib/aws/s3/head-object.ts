import {
  HeadObjectCommand,
  type HeadObjectCommandInput,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { statusOf } from '../calls/failures.ts'
import { send } from '../calls/send.ts'

/** Of a call that S3 answers at once. */
export const callOptions = (name: string, signal: AbortSignal) => ({ name, signal, requestTimeoutMs: 3000 })

/** @returns undefined when there is no such object */
export async function headObject(client: S3Client, object: HeadObjectCommandInput, signal: AbortSignal) {
  try {
    return await send(client, new HeadObjectCommand(object), callOptions('HeadObject', signal))
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** @returns in hex; undefined also for the checksum of the checksums of parts */
export function sha256In({ ChecksumSHA256 = '' }: { ChecksumSHA256?: string | undefined }): string | undefined {
  return /^[\w+/]{43}=$/.test(ChecksumSHA256) ? Buffer.from(ChecksumSHA256, 'base64').toString('hex') : undefined
}

/**
 * HeadObject for an object that may well be missing. For a missing key S3 answers 404 to those who may list the bucket,
 * else 403 (S3 API Reference, HeadObject). Our roles may list it under the prefixes of the key templates; whether a
 * request without a prefix meets that condition is not documented. A listing with the key as its prefix always does.
 * @param onRefused called when S3 answered 403 for a key that does not exist
 * @returns undefined when there is no such object
 */
export async function headOrList(
  client: S3Client,
  object: HeadObjectCommandInput,
  signal: AbortSignal,
  onRefused?: () => void,
): Promise<HeadObjectCommandOutput | undefined> {
  try {
    return await headObject(client, object, signal)
  } catch (error) {
    if (statusOf(error) !== 403 || (await isListed(client, object, signal))) throw error
    onRefused?.()
    return undefined
  }
}

/** @returns true also when the listing is refused: then nothing is known, and the first refusal stands. */
async function isListed(client: S3Client, { Bucket, Key }: HeadObjectCommandInput, signal: AbortSignal) {
  try {
    return (await firstKey(client, { Bucket, Prefix: Key }, signal)) === Key
  } catch (error) {
    if (statusOf(error) === 403) return true
    throw error
  }
}

/** Among all keys that begin with the prefix, the prefix itself comes first. */
export async function firstKey(client: S3Client, query: ListObjectsV2CommandInput, signal: AbortSignal) {
  const command = new ListObjectsV2Command({ ...query, MaxKeys: 1 })
  const { Contents = [] } = await send(client, command, callOptions('ListObjectsV2', signal))
  return Contents[0]?.Key
}
