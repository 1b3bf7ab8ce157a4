import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { AbortMultipartUploadCommand, CreateMultipartUploadCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { formatFileId } from '../../../lib/ids.ts'
import { outputsOf } from '../../deploy/stack.ts'
import { printableLine } from '../../local/printable.ts'
import { CommandError } from '../command-error.ts'
import { explainFailure } from '../explain-failure.ts'
import type { Session } from '../session.ts'
import { bytes } from '../terminal/output.ts'
import { findLocalFiles, type LocalFile, requireUsable } from './local-files.ts'
import type { Container } from './open-container.ts'

/** For one part, over a slow line. */
const TIMEOUT = { requestTimeout: 600_000 }

export async function putFiles(session: Session, container: Container, names: string[]): Promise<void> {
  const { output, signal, target } = session
  const { ids, bucket: Bucket, prefix, stores, demo } = container
  const { maxFileBytes, s3ForcePathStyle: forcePathStyle, serviceName } = stores.config
  const files = await findLocalFiles(names, output.note)
  for (const file of files) requireUsable(file, prefix, maxFileBytes)
  const [first] = files
  if (!first) throw new CommandError('nothing_to_put', `There is no file in ${names.join(', ')}.`, { exitCode: 2 })
  // Files can be put without the right to see the stack.
  const stack = target.stage ? await outputsOf(serviceName, signal).catch(() => undefined) : undefined
  const address = `${demo?.base_url ?? stack?.BaseUrl ?? '$BASE_URL'}/containers/${ids.containerId}`
  const promotionUrl = (path: string) => `${address}/files/${formatFileId(path)}/promote`

  // The service's own client repeats nothing.
  const client = interruptible(createS3Client({ forcePathStyle, maxAttempts: 4 }), session)
  for (const file of files) {
    const { path, sizeBytes } = file
    const Body = Readable.from(contentOf(file))
    // Its type is not stored: a promotion finds it as it would here.
    const upload = new Upload({ client, params: { Bucket, Key: prefix + path, Body, ContentLength: sizeBytes } })
    const show = (count = 0) => output.progress(`${path} ${bytes(count)} of ${bytes(sizeBytes)}`)
    await upload.on('httpUploadProgress', ({ loaded }) => show(loaded)).done()
    const fileId = formatFileId(path)
    const json = { ...ids, path, fileId, sizeBytes, promotionUrl: promotionUrl(path) }
    output.print(`${fileId}  ${printableLine(path)}`, json)
  }
  const key = demo?.workspace_id === ids.workspaceId ? demo.standard_key : '$API_KEY'
  const line = `curl -i -X POST -H "Authorization: Bearer ${key}" \\\n    ${promotionUrl(first.path)}`
  output.note(`\nPromote ${printableLine(first.path)}:\n\n  ${line}`)
}

/** Bytes appended since the file was found are left out. @throws before its end if it has become shorter */
async function* contentOf({ file, sizeBytes }: LocalFile): AsyncGenerator<Uint8Array> {
  let read = 0
  for await (const chunk of createReadStream(file)) {
    yield chunk.subarray(0, sizeBytes - read)
    read += chunk.length
    if (read >= sizeBytes) return
  }
  if (read === sizeBytes) return
  throw new CommandError('file_changed', `${file} became shorter as it was read.`, { exitCode: 2 })
}

/** The signal stops all requests of an upload but its beginning, which says what to abort, and the abort itself. */
function interruptible(s3: S3Client, { signal, output }: Session): S3Client {
  const left = (why: unknown) => output.note(`Its unfinished upload is left: ${explainFailure(why).message}`)
  const send = (command: Parameters<S3Client['send']>[0]) => {
    if (command instanceof AbortMultipartUploadCommand) return s3.send(command, TIMEOUT).catch(left)
    const stopped = command instanceof CreateMultipartUploadCommand ? {} : { abortSignal: signal }
    return s3.send(command, { ...TIMEOUT, ...stopped })
  }
  return Object.create(s3, { send: { value: send } })
}
