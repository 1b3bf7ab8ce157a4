import type { S3Client } from '@aws-sdk/client-s3'
import type { DocumentObjects } from '../../documents/download-document.ts'
import { isArchived } from './container-file.ts'
import { headObject } from './head-object.ts'

export function createDocumentObjects(settings: { client: S3Client; documentsBucket: string }): DocumentObjects {
  const { client, documentsBucket: Bucket } = settings
  return {
    async findDocumentObject(objectKey, signal) {
      const head = await headObject(client, { Bucket, Key: objectKey }, signal)
      return head && { isArchived: isArchived(head), etag: head.ETag ?? '', contentLanguage: head.ContentLanguage }
    },
  }
}
