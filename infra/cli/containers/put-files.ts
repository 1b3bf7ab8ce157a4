import { type FileHandle, open } from 'node:fs/promises'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { type ContainerId, formatFileId, type WorkspaceId } from '../../../lib/ids.ts'
import { outputsOf } from '../../deploy/stack.ts'
import { CommandError } from '../command-error.ts'
import { explainFailure } from '../explain-failure.ts'
import type { Session } from '../session.ts'
import { bytes } from '../terminal/output.ts'
import { progressBar } from '../terminal/status-line.ts'
import { openContainer } from './container-files.ts'
import { findLocalFiles, requireUsable } from './local-files.ts'

const PART_BYTES = 32 * 1024 ** 2
/** Of S3 ("Amazon S3 multipart upload limits"). */
const MAX_PARTS = 10_000
/** For one part, over a slow line. */
const REQUEST_TIMEOUT = { requestTimeout: 600_000 }

interface Upload {
  s3: S3Client
  object: { Bucket: string; Key: string }
  handle: FileHandle
  sizeBytes: number
}

export async function putFiles(
  session: Session,
  names: string[],
  { container, workspace }: { container: ContainerId; workspace?: WorkspaceId },
): Promise<void> {
  const { output, signal, target } = session
  const files = await findLocalFiles(names, output.note)
  const [first] = files
  if (!first) throw new CommandError('nothing_to_put', `There is no file in ${names.join(', ')}.`, { exitCode: 2 })
  const { ids, bucket: Bucket, prefix, stores, demo } = await openContainer(session, container, workspace)
  const { maxFileBytes, s3ForcePathStyle: forcePathStyle, serviceName } = stores.config
  requireUsable(files, prefix, maxFileBytes)
  // Files can be put without the right to see the stack.
  const outputs = target.stage === undefined ? {} : await outputsOf(serviceName, signal).catch(() => undefined)
  const address = demo?.base_url ?? outputs?.BaseUrl ?? '$BASE_URL'
  const promotionUrl = (path: string) => `${address}/containers/${container}/files/${formatFileId(path)}/promote`

  // The service's own client repeats nothing.
  const s3 = createS3Client({ forcePathStyle, maxAttempts: 4 })
  for (const { file, path, sizeBytes } of files) {
    const handle = await open(file)
    try {
      await upload({ s3, object: { Bucket, Key: prefix + path }, handle, sizeBytes }, session)
    } finally {
      await handle.close()
    }
    const fileId = formatFileId(path)
    output.print(`${fileId}  ${path}`, { ...ids, path, fileId, sizeBytes, promotionUrl: promotionUrl(path) })
  }
  const key = demo?.workspace_id === ids.workspaceId ? demo.standard_key : '$API_KEY'
  const line = `curl -i -X POST -H "Authorization: Bearer ${key}" \\\n    ${promotionUrl(first.path)}`
  output.note(`\nPromote ${first.path}:\n\n  ${line}`)
}

/** Puts the whole file, or leaves what was there. Its type is not stored: a promotion finds it as it would here. */
async function upload({ s3, object, handle, sizeBytes }: Upload, { signal, output }: Session): Promise<void> {
  const options = { abortSignal: signal, ...REQUEST_TIMEOUT }
  const partBytes = Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS))
  const read = async (from: number) => {
    output.progress(`${object.Key} ${progressBar(from, sizeBytes, bytes)}`)
    const length = Math.min(partBytes, sizeBytes - from)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from)
    if (bytesRead === length) return buffer
    throw new CommandError('file_changed', `${object.Key} became shorter as it was read.`, { exitCode: 2 })
  }
  if (sizeBytes <= partBytes) {
    return void (await s3.send(new PutObjectCommand({ ...object, Body: await read(0) }), options))
  }
  // Without the signal: only the answer says what is to be aborted.
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(object), REQUEST_TIMEOUT)
  const inParts = { ...object, UploadId }
  const Parts: CompletedPart[] = []
  try {
    for (let from = 0; from < sizeBytes; from += partBytes) {
      const [PartNumber, Body] = [Parts.length + 1, await read(from)]
      const { ETag, ChecksumCRC32 } = await s3.send(new UploadPartCommand({ ...inParts, PartNumber, Body }), options)
      Parts.push({ PartNumber, ETag, ChecksumCRC32 })
    }
    await s3.send(new CompleteMultipartUploadCommand({ ...inParts, MultipartUpload: { Parts } }), options)
  } catch (error) {
    const left = (why: unknown) => output.note(`Its unfinished upload is left: ${explainFailure(why).message}`)
    await s3.send(new AbortMultipartUploadCommand(inParts), REQUEST_TIMEOUT).catch(left)
    throw error
  }
}
