import { ListObjectsV2Command, type ListObjectsV2CommandOutput, type S3Client } from '@aws-sdk/client-s3'
import { type ContainerFiles, quotedEtag } from '../../containers/container-files.ts'
import { send } from '../calls/send.ts'
import { createContainerLookups } from './container-file.ts'
import { callOptions } from './head-object.ts'

const MAX_KEYS = 1000
const ONCE = { tries: 1, retryForMs: 0 }

export function createContainerFiles(settings: { client: S3Client; sandboxBucket: string }): ContainerFiles {
  const { client, sandboxBucket: Bucket } = settings
  return {
    ...createContainerLookups(settings),

    async *listContainerFiles({ keyPrefix, afterKey, firstPage }, signal) {
      // Encoded, because keys may contain characters that XML cannot.
      const query = { Bucket, Prefix: keyPrefix, StartAfter: afterKey, EncodingType: 'url' } as const
      const options = callOptions('ListObjectsV2', signal)
      let ContinuationToken: string | undefined
      do {
        const [MaxKeys, patience] = ContinuationToken ? [MAX_KEYS, ONCE] : [Math.min(firstPage, MAX_KEYS), {}]
        const command = new ListObjectsV2Command({ ...query, MaxKeys, ContinuationToken })
        const page: ListObjectsV2CommandOutput = await send(client, command, { ...options, ...patience })
        ContinuationToken = page.NextContinuationToken
        const nameOf = page.EncodingType === 'url' ? decodeKey : (key: string) => key
        const files = (page.Contents ?? []).map(({ Key = '', Size = 0, ETag = '', LastModified = new Date(0) }) => {
          return { objectKey: nameOf(Key), sizeBytes: Size, etag: quotedEtag(ETag), modifiedAt: LastModified }
        })
        yield { files, isLast: ContinuationToken === undefined }
      } while (ContinuationToken)
    },
  }
}

/** Encoded as in a form (S3, "EncodingType"): a plus sign stands for a space. */
export const decodeKey = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
