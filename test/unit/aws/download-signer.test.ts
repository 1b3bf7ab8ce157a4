import { expect, it } from 'vitest'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { describeDownload } from '../../../lib/download.ts'
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
    const download = { objectKey: 'a/b', contentType: 'text/csv', contentDisposition: 'attachment' }
    const url = new URL(await signer[sign](download))
    expect(url.pathname).toBe(`/${bucket}/a/b`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      'X-Amz-Expires': '77',
      'response-content-type': 'text/csv',
      'response-content-disposition': 'attachment',
      'response-cache-control': 'private, no-store',
    })
    expect(signer.lifetimeSeconds).toBe(77)
  },
)

it.each([
  ['ordinary', 'output/report.csv', 'text/csv', 2500],
  ['the worst', `${"'".repeat(700)}/${"'".repeat(255)}`, `a/b; x="${' ,;/'.repeat(47)}"`, 8192],
])('fits into the buffers of proxies: %s', async (_, path, mimeType, most) => {
  const credentials = { ...CREDENTIALS, sessionToken: '/'.repeat(75).padEnd(1500, 'x') }
  const client = createS3Client({ region: 'ap-southeast-2', credentials })
  const [sandboxBucket, documentsBucket] = ['s'.repeat(63), 'd'.repeat(63)]
  const signer = createDownloadSigner({ client, sandboxBucket, documentsBucket, lifetimeSeconds: 300 })
  const download = describeDownload({ objectKey: `sandboxes/ws_1/sess_1/${path}`, path, mimeType }, false)
  expect((await signer.signContainerFile(download)).length).toBeLessThan(most)
})
