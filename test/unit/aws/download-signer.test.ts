import { expect, it } from 'vitest'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { dispositionOf } from '../../../lib/files/content-disposition.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'

const buckets = { sandboxBucket: 's'.repeat(63), documentsBucket: 'd'.repeat(63) }
const place = { region: 'us-east-1', endpoint: 'https://s3.ap-southeast-2.amazonaws.com', forcePathStyle: true }
const life = { from: new Date('2026-11-26T10:00:00Z'), until: new Date('2026-11-26T10:01:17Z') }
const signerWith = (credentials: typeof CREDENTIALS & { sessionToken?: string }) =>
  createDownloadSigner({ client: createS3Client({ ...place, credentials }), ...buckets })

it.each([
  ['signDocument', buckets.documentsBucket],
  ['signContainerFile', buckets.sandboxBucket],
] as const)(
  '%s makes a URL of one object in its bucket, for a while, with the headers of the answer',
  async (sign, bucket) => {
    const signer = signerWith(CREDENTIALS)
    const headers = { contentType: 'text/csv', contentDisposition: 'attachment', contentEncoding: 'br' }
    const url = new URL(await signer[sign]({ objectKey: 'a/b', ...headers }, life))
    expect(url.pathname).toBe(`/${bucket}/a/b`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      'X-Amz-Date': '20261126T100000Z',
      'X-Amz-Expires': '77',
      'response-content-type': 'text/csv',
      'response-content-disposition': 'attachment',
      'response-content-encoding': 'br',
      'response-cache-control': 'private, no-store',
    })
    // Else S3 answers a range of an object in parts with a checksum that no client can verify.
    expect(url.searchParams.has('x-amz-checksum-mode')).toBe(false)
  },
)

it.each([
  ['ordinary', 'output/report.csv', 'text/csv', 2500],
  ['the worst', `${"'".repeat(700)}/${"'".repeat(255)}`, `a/b; x="${' ,;/'.repeat(47)}"`, 8192],
])('fits into the buffers of proxies: %s', async (_, path, contentType, most) => {
  const signer = signerWith({ ...CREDENTIALS, sessionToken: '/'.repeat(75).padEnd(1500, 'x') })
  const download = { objectKey: `sandboxes/ws_1/sess_1/${path}`, contentType, contentDisposition: dispositionOf(path) }
  expect((await signer.signContainerFile(download, life)).length).toBeLessThan(most)
})
