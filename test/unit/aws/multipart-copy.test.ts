import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { copyObject } from '../../../lib/aws/s3/object-copy.ts'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { clientOf, refused } from '../../support/stores/client-of.ts'

const MIB = 1024 ** 2
const PARTS = 40
const REQUEST = {
  source: { objectKey: 'a.bin', sizeBytes: 5 * 1024 * MIB, etag: '"source"' } as ContainerFile,
  objectKey: 'd',
  mimeType: 'text/plain',
}

/** An S3 that copies parts as the test says, and keeps count of them. */
function startS3(copyPart: (number: number, signal: AbortSignal, underWay: number) => Promise<unknown>) {
  const seen = { underWay: 0, most: 0, sent: 0, parts: [] as object[] }
  const { client } = clientOf({
    CreateMultipartUploadCommand: () => ({ UploadId: 'upload' }),
    UploadPartCopyCommand: async ({ PartNumber }, { abortSignal }) => {
      seen.sent++
      seen.most = Math.max(seen.most, ++seen.underWay)
      await copyPart(PartNumber, abortSignal, seen.underWay).finally(() => seen.underWay--)
      return { CopyPartResult: { ETag: `"${PartNumber}"` } }
    },
    CompleteMultipartUploadCommand({ MultipartUpload }) {
      seen.parts = MultipartUpload.Parts
      return { ETag: '"whole"' }
    },
  })
  const settings = { client, sandboxBucket: 's', documentsBucket: 'd', multipartThresholdBytes: 64 * MIB }
  return { seen, copy: (signal = AbortSignal.timeout(60_000)) => copyObject(REQUEST, settings, signal) }
}

it('copies all parts at once, and completes the upload with them in their order', async () => {
  const { seen, copy } = startS3((number) => sleep(number % 5))
  await copy()
  expect(seen).toMatchObject({ most: PARTS, sent: PARTS })
  const inOrder = Array.from({ length: PARTS }, (_, index) => ({ PartNumber: index + 1, ETag: `"${index + 1}"` }))
  expect(seen.parts).toEqual(inOrder)
})

it('comes to its end while S3 takes only 8 parts at once, each for a while', async () => {
  const { seen, copy } = startS3(async (_number, _signal, underWay) => {
    if (underWay > 8) throw refused(503, 'SlowDown')
    await sleep(100)
  })
  await copy()
  expect(seen.parts).toHaveLength(PARTS)
  expect(seen.sent).toBeGreaterThan(PARTS)
}, 20_000)

it('throws the first failure, when the parts under way have been aborted and have ended', async () => {
  const { seen, copy } = startS3(async (number, signal) => {
    if (number === 3) {
      await sleep(5)
      throw refused(403, 'AccessDenied')
    }
    // Each takes its time to end.
    await sleep(60_000, undefined, { signal }).catch(() => sleep(20))
    throw refused(400, 'AbortError')
  })
  await expect(copy()).rejects.toMatchObject({ name: 'AccessDenied' })
  expect(seen).toMatchObject({ underWay: 0, sent: PARTS, parts: [] })
})

it('sends no refused part again once another has failed', async () => {
  const { seen, copy } = startS3(async (number) => {
    if (number > 1) throw refused(503, 'SlowDown')
    await sleep(5)
    throw refused(403, 'AccessDenied')
  })
  await expect(copy()).rejects.toMatchObject({ name: 'AccessDenied' })
  const { sent } = seen
  await sleep(100)
  expect(seen).toMatchObject({ underWay: 0, sent })
})

it('says that the time is over when it is, after all parts have ended', async () => {
  const { seen, copy } = startS3((_number, signal) => sleep(60_000, undefined, { signal }))
  await expect(copy(AbortSignal.timeout(20))).rejects.toMatchObject({ reason: 'request_timed_out' })
  expect(seen.underWay).toBe(0)
})
