import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { send } from '../calls/send.ts'
import { planParts } from './copy-plan.ts'
import {
  type CopiedObject,
  copyTimeoutMs,
  findArrived,
  pinnedSource,
  requireEtag,
  type ServerSideCopy,
  type ServerSideCopySettings,
} from './copy-requests.ts'
import { copyInParts } from './multipart-copy.ts'

/** Copies an object within S3, whole or in parts. A failure may leave parts behind. */
export async function copyServerSide(
  copy: ServerSideCopy,
  settings: ServerSideCopySettings,
  signal: AbortSignal,
): Promise<CopiedObject> {
  const plan = planParts(copy.source.sizeBytes, settings)
  if (plan !== undefined) return copyInParts(copy, plan, settings, signal)
  const copied = await copyWhole(copy, settings, signal)
  requireEtag(copied)
  return copied
}

async function copyWhole(
  copy: ServerSideCopy,
  { client }: ServerSideCopySettings,
  signal: AbortSignal,
): Promise<CopiedObject> {
  const command = new CopyObjectCommand({
    ...pinnedSource(copy.source),
    ...copy.target,
    ...copy.condition,
    ChecksumAlgorithm: 'SHA256',
    MetadataDirective: 'REPLACE',
    ...copy.headers,
    // Tags and annotations belong to the container platform, and copying them takes permissions we do not want.
    TaggingDirective: 'REPLACE',
    AnnotationDirective: 'EXCLUDE',
  })
  const requestTimeoutMs = copyTimeoutMs(copy.source.sizeBytes)
  try {
    const options = { name: 'CopyObject', signal, startsCopy: true, requestTimeoutMs }
    const copied = await send(client, command, options)
    return { ...copied, ...copied.CopyObjectResult }
  } catch (error) {
    const arrived = await findArrived(error, copy, client, signal)
    if (arrived === undefined) throw error
    return arrived
  }
}
