import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { notChecked } from '../doctor/check.ts'
import { sandboxObject, type Trial } from './trial.ts'

const OF_NO_OBJECT = '"00000000000000000000000000000000"'

/** Whether an S3-compatible server copies only what was looked up, and only as many bytes as were counted. */
export async function copyConditions(trial: Trial, abortSignal: AbortSignal) {
  if (!process.env.AWS_ENDPOINT_URL_S3) return notChecked('S3 itself honours them')
  const { s3, stores, workspaceId, files } = trial
  const source = sandboxObject(files.small.path, trial)
  const changedSource = { CopySource: `${source.Bucket}/${source.Key}`, CopySourceIfMatch: OF_NO_OBJECT }
  const Key = `${stores.objectKeys.workspacesPrefix}${workspaceId}/conditions`
  const target = { Bucket: stores.config.documentsBucket, Key }
  const options = { abortSignal }
  const ignoring: string[] = []
  const expectRefused = (operation: string, sent: Promise<unknown>) =>
    sent.then(
      () => void ignoring.push(operation),
      (error) => {
        if (![400, 412].includes(error.$metadata?.httpStatusCode)) throw error
      },
    )
  try {
    await expectRefused('CopyObject', s3.send(new CopyObjectCommand({ ...target, ...changedSource }), options))
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target), options)
    const part = { ...target, UploadId, PartNumber: 1 }
    await expectRefused('UploadPartCopy', s3.send(new UploadPartCopyCommand({ ...part, ...changedSource }), options))
    const { ETag } = await s3.send(new UploadPartCommand({ ...part, Body: 'x' }), options)
    const wrongSize = { ...target, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] }, MpuObjectSize: 2 }
    await expectRefused('CompleteMultipartUpload', s3.send(new CompleteMultipartUploadCommand(wrongSize), options))
  } finally {
    await stores.objects.discard(Key, abortSignal)
  }
  if (ignoring.length === 0) return 'a source that changed, and a wrong size, are refused'
  throw new Error(
    `this server ignores them (${ignoring.join(', ')}): a file that is overwritten while it is promoted may become a document of other bytes than were counted (docs/settings.md)`,
  )
}
