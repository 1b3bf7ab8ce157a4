import { expect, it } from 'vitest'
import { createDynamoDbClient, createS3Client, UNREAD_LOG } from '../../lib/aws/clients.ts'

it.each([createDynamoDbClient, createS3Client])('%o makes no copies for a log nobody reads', (createClient) => {
  const client = createClient({ region: 'us-east-1' })
  // The name is the SDK's own: it tells when a newer one calls it otherwise.
  expect(client.middlewareStack.identify().join('\n')).not.toMatch(/logger/i)
  expect(client.middlewareStack.remove(UNREAD_LOG)).toBe(false)
})
