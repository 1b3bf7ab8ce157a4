import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { partRange } from '../../../lib/aws/copy-plan.ts'
import { inParallel } from '../../../lib/aws/in-parallel.ts'
import { createObjectStore } from '../../../lib/aws/object-store.ts'
import { readConfig } from '../../../lib/config.ts'
import { lambdaEnvironment } from '../bundles.ts'
import { serve } from '../worker.ts'

/** A copy as some tool would do it: in parts of one size, or whole. */
export interface ForeignPlan {
  sizeBytes: number
  /** undefined: one CopyObject. */
  partBytes: number | undefined
  concurrency: number
}

const SAMPLE_EVERY_MS = 5
const config = readConfig(lambdaEnvironment('http://unused'))
const [endpoint = '', sockets] = process.argv.slice(2)
const client = createS3Client({
  endpoint,
  forcePathStyle: true,
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  // Only for what other tools would do: the product has its own.
  ...(sockets && { requestHandler: new NodeHttpHandler({ httpAgent: { maxSockets: Number(sockets) } }) }),
})
const store = createObjectStore({ ...config, client })
const signal = new AbortController().signal
const keyOf = (sizeBytes: number) => `sandboxes/ws_bench/sess_1/${sizeBytes}.bin`
const target = { Bucket: config.documentsBucket, Key: 'documents/ws_bench/file_1/attempt_1' }

const methods = {
  /** The product's own copy, by its own plan. @returns seconds */
  async copy(sizeBytes: number): Promise<number> {
    const source = await store.findContainerFile(keyOf(sizeBytes), signal)
    if (source === undefined) throw new Error('the simulator knows no such file')
    const startedMs = performance.now()
    await store.copy({ source, targetKey: target.Key, mimeType: 'text/plain' }, signal)
    return (performance.now() - startedMs) / 1000
  },

  /** @returns seconds */
  async copyLike({ sizeBytes, partBytes, concurrency }: ForeignPlan): Promise<number> {
    const CopySource = `${config.sandboxBucket}/${keyOf(sizeBytes)}`
    const startedMs = performance.now()
    if (partBytes === undefined) await client.send(new CopyObjectCommand({ ...target, CopySource }))
    else await copyPartsLike(CopySource, { sizeBytes, partBytes, concurrency })
    return (performance.now() - startedMs) / 1000
  },

  /** @returns the largest resident set while copying, in bytes */
  async copyWatched(sizeBytes: number): Promise<number> {
    let mostBytes = process.memoryUsage.rss()
    const sampling = setInterval(() => {
      mostBytes = Math.max(mostBytes, process.memoryUsage.rss())
    }, SAMPLE_EVERY_MS)
    await methods.copy(sizeBytes)
    clearInterval(sampling)
    return Math.max(mostBytes, process.memoryUsage.rss())
  },
}
export type CopyMethods = typeof methods

async function copyPartsLike(
  CopySource: string,
  { sizeBytes, partBytes, concurrency }: ForeignPlan & { partBytes: number },
) {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target))
  const count = Math.ceil(sizeBytes / partBytes)
  const Parts = await inParallel(
    { count, concurrency, isOverload: () => false },
    async (PartNumber) => {
      const { firstByte, lastByte } = partRange(PartNumber, partBytes, sizeBytes)
      const CopySourceRange = `bytes=${firstByte}-${lastByte}`
      const command = new UploadPartCopyCommand({ ...target, UploadId, PartNumber, CopySource, CopySourceRange })
      return { PartNumber, ETag: (await client.send(command)).CopyPartResult?.ETag }
    },
    signal,
  )
  await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
}

serve(methods)
