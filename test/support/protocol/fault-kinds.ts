import { dynamoDbError, ERROR_IN_200, HANGS, LOST, REFUSED, s3Error } from './aws-failures.ts'
import type { ProcessFault } from './breakable-transport.ts'

const COPIES = new Set(['CopyObject', 'UploadPartCopy', 'CompleteMultipartUpload'])
const S3_CALLS = /^[A-Z]/
/** Reads have no effect: a lost answer or a late call is like one that hangs. */
const READS = /find|read|list|usage|^HeadObject$|^List/

/** One call of a run: the n-th of its name. */
export interface Step {
  call: string
  occurrence: number
}
export interface PlannedFault extends Step {
  what: string
  fault: ProcessFault
}

/** Each fault that its call can have, at each of the steps. */
export const faultsAt = (steps: Step[]): PlannedFault[] =>
  steps.flatMap((step) => faultsFor(step.call).map(([what, fault]) => ({ ...step, what, fault })))

/** All faults that a call can be given, by name. A kill before it is one after the call that it follows. */
export function faultsFor(call: string): [name: string, fault: ProcessFault][] {
  const isS3 = S3_CALLS.test(call)
  const faults: [string, ProcessFault][] = [
    ['refused', REFUSED],
    ['500', isS3 ? s3Error(500, 'InternalError') : dynamoDbError(500, 'InternalServerError')],
    ['throttled', isS3 ? s3Error(503, 'SlowDown') : dynamoDbError(400, 'ProvisionedThroughputExceededException')],
    ['hangs', HANGS],
  ]
  if (!READS.test(call)) {
    faults.push(['answer lost', LOST], ['arrives late', { kind: 'late' }], ['killed after', { kind: 'kill_after' }])
  }
  if (isS3 && call !== 'HeadObject') faults.push(['200 and white space', { kind: 'drip' }])
  if (COPIES.has(call)) faults.push(['200 with an error', ERROR_IN_200])
  return faults
}
