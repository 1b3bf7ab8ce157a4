import type { Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createObjectStore } from '../../../lib/aws/object-store.ts'
import type { Config } from '../../../lib/config.ts'
import { serve } from '../worker.ts'

export interface CopyCost {
  seconds: number
  cpuSeconds: number
  peakBytes: number
}
interface Copy {
  config: Config
  sourceKey: string
  targetKey: string
}

const SAMPLE_EVERY_MS = 5
const [endpoint = ''] = process.argv.slice(2)
const client = createS3Client({
  endpoint,
  forcePathStyle: true,
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  // s3rver does not know checksums that come after a streamed body; without them, streaming is even cheaper than on AWS.
  requestChecksumCalculation: 'WHEN_REQUIRED',
})
const { signal } = new AbortController()

async function measure(work: () => Promise<void>): Promise<CopyCost> {
  let peakBytes = process.memoryUsage.rss()
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, SAMPLE_EVERY_MS)
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  await work()
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(sampling)
  return { seconds, cpuSeconds: (user + system) / 1e6, peakBytes }
}

const methods = {
  /** The product's way. */
  serverSide: ({ config, sourceKey, targetKey }: Copy) => {
    const store = createObjectStore({ ...config, client })
    return measure(async () => {
      const source = await store.findContainerFile(sourceKey, signal)
      if (source === undefined) throw new Error('the file is not there')
      await store.copy({ source, targetKey, mimeType: 'text/plain' }, signal)
    })
  },
  /** What one would write instead: the bytes come in and go out again, none of them waits for all. */
  streamed: ({ config, sourceKey, targetKey }: Copy) =>
    measure(async () => {
      const { Body, ContentLength } = await client.send(
        new GetObjectCommand({ Bucket: config.sandboxBucket, Key: sourceKey }),
      )
      const target = { Bucket: config.documentsBucket, Key: targetKey }
      await client.send(new PutObjectCommand({ ...target, Body: Body as Readable, ContentLength }))
    }),
  async remove({ config, targetKey }: Copy): Promise<void> {
    await client.send(new DeleteObjectCommand({ Bucket: config.documentsBucket, Key: targetKey }))
  },
}
export type StreamedMethods = typeof methods

serve(methods)
