import { expect, it } from 'vitest'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'

it.each([
  ['signDocument', 'documents'],
  ['signContainerFile', 'sandboxes'],
] as const)(
  '%s makes a URL of one object in its bucket, for a while, with the headers of the answer',
  async (sign, bucket) => {
    const place = { region: 'us-east-1', endpoint: 'https://s3.test', forcePathStyle: true }
    const client = createS3Client({ ...place, credentials: CREDENTIALS })
    const buckets = { sandboxBucket: 'sandboxes', documentsBucket: 'documents' }
    const signer = createDownloadSigner({ client, ...buckets, lifetimeSeconds: 77 })
    const headers = { contentType: 'text/csv', contentDisposition: 'attachment', contentEncoding: 'br' }
    const url = new URL(await signer[sign]({ objectKey: 'a/b', ...headers }))
    expect(url.pathname).toBe(`/${bucket}/a/b`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      'X-Amz-Expires': '77',
      'response-content-type': 'text/csv',
      'response-content-disposition': 'attachment',
      'response-content-encoding': 'br',
      'response-cache-control': 'private, no-store',
    })
    expect(signer.lifetimeSeconds).toBe(77)
  },
)
