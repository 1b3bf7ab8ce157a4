import { expect, it } from 'vitest'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createDownloadSigner } from '../../../lib/aws/s3/download-signer.ts'
import { dispositionOf } from '../../../lib/files/content-disposition.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'

const DOWNLOAD = { objectKey: 'a', contentType: 'text/csv', contentDisposition: dispositionOf('a') }
const buckets = { sandboxBucket: 's'.repeat(63), documentsBucket: 'd'.repeat(63) }
const place = { region: 'us-east-1', endpoint: 'https://s3.ap-southeast-2.amazonaws.com', forcePathStyle: true }
const life = { from: new Date('2026-11-26T10:00:00Z'), until: new Date('2026-11-26T10:01:17Z') }
const signerWith = (credentials: typeof CREDENTIALS & { sessionToken?: string }) =>
  createDownloadSigner({ client: createS3Client({ ...place, credentials }), ...buckets })

it('a URL is dated by its life, lets nobody between keep the bytes, and asks for no checksum', async () => {
  const signed = await signerWith(CREDENTIALS).signDocument(DOWNLOAD, life)
  const { searchParams } = new URL(signed)
  const [dated, kept] = ['X-Amz-Date', 'response-cache-control'].map((name) => searchParams.get(name))
  expect([dated, kept]).toEqual(['20261126T100000Z', 'private, no-store'])
  // Else S3 answers a range of an object in parts with a checksum that no client can verify.
  expect(searchParams.has('x-amz-checksum-mode')).toBe(false)
})

it.each([
  ['ordinary', 'output/report.csv', 'text/csv', 2500],
  ['the worst', `${"'".repeat(700)}/${"'".repeat(255)}`, `a/b; x="${' ,;/'.repeat(47)}"`, 8192],
])('fits into the buffers of proxies: %s', async (_, path, contentType, most) => {
  const signer = signerWith({ ...CREDENTIALS, sessionToken: '/'.repeat(75).padEnd(1500, 'x') })
  const download = { objectKey: `sandboxes/ws_1/sess_1/${path}`, contentType, contentDisposition: dispositionOf(path) }
  expect((await signer.signContainerFile(download, life)).length).toBeLessThan(most)
})
