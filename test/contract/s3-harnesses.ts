import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { createContainerFiles } from '../../lib/aws/s3/container-files.ts'
import { createObjectStore } from '../../lib/aws/s3/object-store.ts'
import type { StandIns } from '../support/stores/stand-ins.ts'
import { COPY_SETTINGS, type ObjectStoreHarness } from '../support/stores/use-object-store.ts'
import type { ContainerFilesHarness } from './container-files.contract.ts'

type OnS3 = Pick<StandIns, 's3' | 'config'>

/** The adapter on an S3 with the buckets of the configuration. */
export function containerFilesOn({ s3: client, config }: OnS3): ContainerFilesHarness {
  return {
    containerFiles: createContainerFiles({ client, sandboxBucket: config.sandboxBucket }),
    put: async (Key, Body) =>
      void (await client.send(new PutObjectCommand({ Bucket: config.sandboxBucket, Key, Body }))),
  }
}

/** The adapter on an S3 with the buckets of the configuration. */
export function objectStoreOn({ s3: client, config }: OnS3): ObjectStoreHarness {
  const { sandboxBucket, documentsBucket } = config
  return {
    store: createObjectStore({ ...COPY_SETTINGS, client, sandboxBucket, documentsBucket }),
    async putSandboxFile(Key, { bytes, contentType, contentEncoding, storageClass }) {
      await client.send(
        new PutObjectCommand({
          Bucket: sandboxBucket,
          Key,
          Body: bytes,
          ContentType: contentType,
          ContentEncoding: contentEncoding,
          StorageClass: storageClass as 'GLACIER' | undefined,
        }),
      )
    },
    async beginUpload(Key) {
      await client.send(new CreateMultipartUploadCommand({ Bucket: documentsBucket, Key }))
    },
    async readDocument(Key) {
      try {
        const object = await client.send(new GetObjectCommand({ Bucket: documentsBucket, Key }))
        const bytes = Buffer.from((await object.Body?.transformToByteArray()) ?? [])
        return { bytes, contentType: object.ContentType, contentEncoding: object.ContentEncoding }
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined
        throw error
      }
    },
    async documentKeys() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: documentsBucket }))
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: documentsBucket }))
      return [...Contents.map(({ Key }) => `${Key}`), ...Uploads.map(({ Key }) => `unfinished:${Key}`)]
    },
  }
}
