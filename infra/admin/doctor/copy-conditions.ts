import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import type { Config } from '../../../lib/config.ts'
import { createObjectKeys } from '../../../lib/object-keys.ts'
import { type Check, notChecked, problem, setupCheck } from './check.ts'

const OF_NO_OBJECT = '"00000000000000000000000000000000"'
/** A server that honours the condition copies nothing; for others, copy little. */
const MAX_SOURCE_BYTES = 8 * 1024 ** 2

/**
 * Whether an S3-compatible server honours the conditions of a promotion's copy: exactly the bytes that were looked up
 * (x-amz-copy-source-if-match), and as many as were counted (x-amz-mp-object-size). S3 does; some others accept and
 * ignore them.
 */
export function copyConditionsCheck(config: Config, client: S3Client): Check {
  return setupCheck(`conditions of copies into ${config.documentsBucket}`, 's3:PutObject', async (abortSignal) => {
    const source = await smallSandboxFile(config, client, abortSignal)
    if (source === undefined) return notChecked('there is no small file in any sandbox to try it with')
    const target = {
      Bucket: config.documentsBucket,
      Key: `${createObjectKeys(config.keyTemplates).workspacesPrefix}doctor_${randomUUID()}`,
    }
    const ignored: string[] = []
    const probes: Record<string, (target: Target) => Promise<unknown>> = {
      'a changed source (CopyObject)': (to) =>
        client.send(new CopyObjectCommand({ ...to, ...source, CopySourceIfMatch: OF_NO_OBJECT }), { abortSignal }),
      'a changed source (UploadPartCopy)': (to) => copyPart(to, source, client, abortSignal),
      'a wrong size (CompleteMultipartUpload)': (to) => completeWithWrongSize(to, client, abortSignal),
    }
    for (const [name, probe] of Object.entries(probes)) {
      if (await isIgnored(() => probe(target), target, client, abortSignal)) ignored.push(name)
    }
    if (ignored.length === 0) return 'a source that changed, and a wrong size, are refused'
    return problem(
      `this server copies in spite of ${ignored.join(', ')}: a file that is overwritten while it is promoted may become a document of other bytes than were counted (docs/settings.md)`,
    )
  })
}

interface Target {
  Bucket: string
  Key: string
}
interface Source {
  CopySource: string
}

async function smallSandboxFile(
  { sandboxBucket, keyTemplates }: Config,
  client: S3Client,
  abortSignal: AbortSignal,
): Promise<Source | undefined> {
  const Prefix = keyTemplates.sandbox.split('{')[0]
  const query = new ListObjectsV2Command({ Bucket: sandboxBucket, Prefix, MaxKeys: 100 })
  const { Contents = [] } = await client.send(query, { abortSignal })
  const found = Contents.find(({ Size = 0 }) => Size > 0 && Size <= MAX_SOURCE_BYTES)
  if (found?.Key === undefined) return undefined
  return { CopySource: `${sandboxBucket}/${found.Key.split('/').map(encodeURIComponent).join('/')}` }
}

async function copyPart(target: Target, source: Source, client: S3Client, abortSignal: AbortSignal): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target), { abortSignal })
  try {
    const part = { ...target, ...source, UploadId, PartNumber: 1, CopySourceIfMatch: OF_NO_OBJECT }
    await client.send(new UploadPartCopyCommand(part), { abortSignal })
  } finally {
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), { abortSignal })
  }
}

async function completeWithWrongSize(target: Target, client: S3Client, abortSignal: AbortSignal): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target), { abortSignal })
  const part = { ...target, UploadId, PartNumber: 1 }
  try {
    const { ETag } = await client.send(new UploadPartCommand({ ...part, Body: 'x' }), { abortSignal })
    const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
    const command = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload, MpuObjectSize: 2 })
    await client.send(command, { abortSignal })
  } catch (error) {
    await client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), { abortSignal })
    throw error
  }
}

/** Whether the server did what it should have refused. What it made is deleted again. */
async function isIgnored(
  probe: () => Promise<unknown>,
  target: Target,
  client: S3Client,
  abortSignal: AbortSignal,
): Promise<boolean> {
  try {
    await probe()
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
    if (status === 412 || status === 400) return false
    throw error
  }
  await client.send(new DeleteObjectCommand(target), { abortSignal })
  return true
}
