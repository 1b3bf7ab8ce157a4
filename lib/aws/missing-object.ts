import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { callAws, statusOf } from './call-aws.ts'

interface RefusedObject {
  client: S3Client
  bucket: string
  objectKey: string
  requestTimeoutMs: number
}

/**
 * Whether S3 refused to look at an object only because there is none. S3 says 404 of a missing key to who may list the bucket,
 * else 403 (S3 API Reference, HeadObject). Our roles may list it under the prefixes of the key templates; whether that condition is met
 * by a request that names no prefix is not documented. A listing with the key as its prefix is allowed either way.
 */
export async function isMissing(
  { client, bucket, objectKey, requestTimeoutMs }: RefusedObject,
  signal: AbortSignal,
): Promise<boolean> {
  const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: objectKey, MaxKeys: 1 })
  try {
    const { Contents = [] } = await callAws(signal, () =>
      client.send(command, { abortSignal: signal, requestTimeout: requestTimeoutMs }),
    )
    // Of all keys that begin with it, the key itself comes first.
    return Contents[0]?.Key !== objectKey
  } catch (error) {
    if (statusOf(error) === 403) return false
    throw error
  }
}
