import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { send } from '../calls/send.ts'
import { planParts } from './copy-plan.ts'
import {
  type CopiedObject,
  copyTimeoutMs,
  pinnedSource,
  requireArrived,
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
  const { sizeBytes } = copy.source
  const plan = planParts(sizeBytes, settings)
  if (plan !== undefined) return copyInParts(copy, plan, settings.client, signal)
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
  const options = { name: 'CopyObject', signal, startsCopy: true, requestTimeoutMs: copyTimeoutMs(sizeBytes) }
  try {
    const copied = await send(settings.client, command, options)
    requireEtag(copied.CopyObjectResult)
    return { ...copied, ...copied.CopyObjectResult }
  } catch (error) {
    return requireArrived(error, copy, settings.client, signal)
  }
}
