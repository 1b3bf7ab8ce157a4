import type { S3Client } from '@aws-sdk/client-s3'
import type { DocumentObjects } from '../files/document-objects.ts'
import { isArchived } from './container-file.ts'
import { lookAt } from './copy-requests.ts'

export function createDocumentObjects({
  client,
  documentsBucket: Bucket,
}: {
  client: S3Client
  documentsBucket: string
}): DocumentObjects {
  return {
    async findDocumentObject(objectKey, signal) {
      const head = await lookAt(client, { Bucket, Key: objectKey }, signal)
      return head && { isArchived: isArchived(head) }
    },
  }
}
