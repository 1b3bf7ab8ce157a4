import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { UsageFiles } from '../../audit/ports/usage-files.ts'
import { send } from '../calls/send.ts'

export function createUsageFiles(settings: { client: S3Client; usageBucket: string }): UsageFiles {
  const { client, usageBucket: Bucket } = settings
  return {
    async write(name, text, signal) {
      const file = { Key: `usage/${name}`, Body: text, ContentType: 'application/json' }
      await send(client, new PutObjectCommand({ Bucket, ...file }), { name: 'PutObject', signal })
    },
  }
}
