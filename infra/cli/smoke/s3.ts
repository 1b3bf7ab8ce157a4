import { statusOf } from '../../../lib/aws/calls/failures.ts'
import { ONLY_NEW } from '../../../lib/aws/s3/copy-requests.ts'
import { headOrList } from '../../../lib/aws/s3/head-object.ts'
import { advice, notChecked } from '../doctor/check.ts'
import { OF_NO_OBJECT, putFile, SMALL, sandboxObject, sha256Of, type Trial } from './trial.ts'

/** Whether only what was looked up is copied, only as many bytes as were counted, and onto nothing that is there. */
export async function copyConditions(trial: Trial, abortSignal: AbortSignal): Promise<string> {
  const { s3, stores } = trial
  const source = sandboxObject(SMALL, trial)
  const CopySource = `${source.Bucket}/${source.Key}`
  const changedSource = { CopySource, CopySourceIfMatch: OF_NO_OBJECT }
  const target = { Bucket: stores.config.documentsBucket, Key: ownKey('conditions', trial) }
  // As the service copies: what is attached to an object takes further rights.
  const alone = { ...target, TaggingDirective: 'REPLACE', AnnotationDirective: 'EXCLUDE' } as const
  const options = { abortSignal }
  const ignoring: string[] = []
  const unlessRefused = (error: unknown) => {
    // 404: of an upload that was completed before, against its condition.
    if (![400, 404, 412].includes(Number(statusOf(error)))) throw error
  }
  const expectRefused = (operation: string, sent: Promise<unknown>) =>
    sent.then(() => void ignoring.push(operation), unlessRefused)
  try {
    await expectRefused('CopyObject', s3.copyObject({ ...alone, ...changedSource }, options))
    await s3.copyObject({ ...alone, CopySource }, options)
    await expectRefused('CopyObject onto an object', s3.copyObject({ ...alone, CopySource, ...ONLY_NEW }, options))
    const { UploadId } = await s3.createMultipartUpload(target, options)
    const part = { ...target, UploadId, PartNumber: 1 }
    await expectRefused('UploadPartCopy', s3.uploadPartCopy({ ...part, ...changedSource }, options))
    const { ETag } = await s3.uploadPart({ ...part, Body: 'x' }, options)
    const whole = { ...target, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } }
    const complete = (condition: object) => s3.completeMultipartUpload({ ...whole, ...condition }, options)
    await expectRefused('CompleteMultipartUpload', complete({ MpuObjectSize: 2 }))
    await expectRefused('CompleteMultipartUpload onto an object', complete(ONLY_NEW))
  } finally {
    await stores.objects.discard({ objectKey: target.Key }, abortSignal)
  }
  if (ignoring.length === 0) return 'a changed source, a wrong size and an existing target are refused'
  throw new Error(
    `this server ignores them (${ignoring.join(', ')}): a file that is overwritten while it is promoted may become a document of other bytes than were counted (docs/settings.md)`,
  )
}

/** By the service's own copy, which names the version that was looked up. */
export async function copyVersion(trial: Trial, signal: AbortSignal) {
  const { stores, late } = trial
  const source = await stores.objects.findContainerFile(sandboxObject(late.path, trial).Key, signal)
  if (source?.versionId === undefined) return notChecked('the sandbox bucket is not versioned')
  await putFile({ ...late, bytes: Buffer.from('overwritten\n') }, trial, signal)
  const objectKey = ownKey('version', trial)
  try {
    const { sha256 } = await stores.objects.copy({ source, objectKey, mimeType: 'text/plain' }, signal)
    if (sha256 === sha256Of(late)) return 'what was overwritten is copied'
    throw new Error(`the copy has the SHA-256 ${sha256}, not ${sha256Of(late)}`)
  } finally {
    await stores.objects.discard({ objectKey }, signal)
  }
}

/** S3 tells a missing key from a refused one only to those who may list, as these credentials may under their prefix. */
export async function missingKey(trial: Trial, signal: AbortSignal) {
  const object = { Bucket: trial.stores.config.documentsBucket, Key: ownKey('missing', trial) }
  let isRefused = false
  const found = await headOrList(trial.s3, object, signal, () => {
    isRefused = true
  })
  if (found) throw new Error(`${object.Key} is there`)
  return isRefused ? advice('403, as to whoever may not list: a listing more for each missing file') : '404'
}

const ownKey = (name: string, { stores, workspaceId }: Trial) => stores.objectKeys.workspacePrefix(workspaceId) + name
