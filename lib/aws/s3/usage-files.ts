import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { UsageFiles } from '../../audit/ports/usage-files.ts'
import { send } from '../calls/send.ts'

export function createUsageFiles({
  client,
  usageBucket: Bucket,
}: {
  client: S3Client
  usageBucket: string
}): UsageFiles {
  return {
    async write(name, text, signal) {
      const command = new PutObjectCommand({
        Bucket,
        Key: `usage/${name}`,
        Body: text,
        ContentType: 'application/json',
      })
      await send(client, command, { name: 'PutObject', signal })
    },
  }
}
