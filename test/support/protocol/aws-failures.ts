import type { ProcessFault } from './breakable-transport.ts'
import type { Fault } from './fault-proxy.ts'

export const s3Error = (status: number, code: string) => ({
  kind: 'answer' as const,
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>secret-internal arn:aws:s3:::secret</Message></Error>`,
})
const headError = (status: number): Fault => ({ kind: 'answer', status })
export const dynamoDbError = (status: number, type: string): Fault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({
    __type: `com.amazonaws.dynamodb.v20120810#${type}`,
    message: 'secret-internal arn:aws:dynamodb:secret',
  }),
})

export const REFUSED: Fault = { kind: 'refuse' }
export const LOST: Fault = { kind: 'lose_answer' }
export const HANGS: Fault = { kind: 'hang' }
const ERROR_IN_200 = s3Error(200, 'InternalError')
/** A body that the SDK takes for a success: only the missing ETag gives it away. */
const DISGUISED_ERROR: Fault = { ...ERROR_IN_200, body: `${ERROR_IN_200.body}\n` }
const EMPTY_200: Fault = { kind: 'answer', status: 200, headers: { 'content-type': 'application/xml' } }

type Answer = [status: number, reason: string]
/** A call of AWS, what goes wrong with it, and how a promotion that meets this is answered. */
type Row = [call: string, what: string, ...Answer, fault: Fault]
const UNAVAILABLE: Answer = [503, 'service_unavailable']
/** @param throttled the answer when DynamoDB says that it has not applied the call */
export const dynamoDbRows = (call: string, throttled = UNAVAILABLE): Row[] => [
  [call, 'throttles', ...throttled, dynamoDbError(400, 'ProvisionedThroughputExceededException')],
  [call, 'limits the account', ...throttled, dynamoDbError(400, 'RequestLimitExceeded')],
  [call, 'fails inside', 503, 'service_unavailable', dynamoDbError(500, 'InternalServerError')],
  [call, 'is unavailable', 503, 'service_unavailable', dynamoDbError(503, 'ServiceUnavailable')],
  [call, 'does not take the connection', 503, 'service_unavailable', REFUSED],
  [call, 'denies our role', 500, 'internal_error', dynamoDbError(400, 'AccessDeniedException')],
  [call, 'does not know the table', 500, 'internal_error', dynamoDbError(400, 'ResourceNotFoundException')],
  [call, 'finds the request invalid', 500, 'internal_error', dynamoDbError(400, 'ValidationException')],
]
const s3Rows = (call: string): Row[] => [
  [call, 'asks to slow down', 503, 'service_unavailable', s3Error(503, 'SlowDown')],
  [call, 'fails inside', 503, 'service_unavailable', s3Error(500, 'InternalError')],
  [call, 'does not take the connection', 503, 'service_unavailable', REFUSED],
  [call, 'denies our role', 500, 'internal_error', s3Error(403, 'AccessDenied')],
  [call, 'does not know the bucket', 500, 'internal_error', s3Error(404, 'NoSuchBucket')],
  [call, 'finds the request invalid', 500, 'internal_error', s3Error(400, 'InvalidRequest')],
]
const copyRows = (call: string): Row[] => [
  ...s3Rows(call),
  [call, 'finds the source changed', 503, 'container_file_changed', s3Error(412, 'PreconditionFailed')],
  [call, 'finds the source gone', 503, 'container_file_changed', s3Error(404, 'NoSuchKey')],
  [call, 'meets another request', 503, 'service_unavailable', s3Error(409, 'OperationAborted')],
  [call, 'finds our key disabled', 503, 'service_unavailable', s3Error(400, 'KMS.DisabledException')],
  [call, 'finds the source archived', 404, 'container_file_archived', s3Error(403, 'InvalidObjectState')],
  [call, 'answers 200 with an error', 503, 'service_unavailable', ERROR_IN_200],
  [call, 'answers 200 with an error in disguise', 503, 'service_unavailable', DISGUISED_ERROR],
  [call, 'answers 200 with nothing', 503, 'service_unavailable', EMPTY_200],
]

export const SMALL: Row[] = [
  ...dynamoDbRows('keys.find'),
  // A throttled ledger has more load than it can carry: the promotion is refused, after some patience.
  ...dynamoDbRows('ledger.hold', [429, 'too_many_promotions']),
  ...dynamoDbRows('ledger.read'),
  ...dynamoDbRows('documents.begin'),
  ...dynamoDbRows('documents.record'),
  ['HeadObject', 'asks to slow down', 503, 'service_unavailable', headError(503)],
  ['HeadObject', 'fails inside', 503, 'service_unavailable', headError(500)],
  ['HeadObject', 'does not take the connection', 503, 'service_unavailable', REFUSED],
  ['HeadObject', 'denies our role', 500, 'internal_error', headError(403)],
  ['HeadObject', 'finds the request invalid', 500, 'internal_error', headError(400)],
  ['HeadObject', 'sends us to another region', 500, 'internal_error', headError(301)],
  ['HeadObject', 'answers without length and ETag', 500, 'internal_error', { kind: 'answer', status: 200 }],
  ...copyRows('CopyObject'),
]
export const LARGE: Row[] = [
  ...s3Rows('CreateMultipartUpload'),
  ['CreateMultipartUpload', 'loses its answers', 503, 'service_unavailable', LOST],
  ...copyRows('UploadPartCopy'),
  ...s3Rows('CompleteMultipartUpload'),
  ['CompleteMultipartUpload', 'answers 200 with an error', 503, 'service_unavailable', ERROR_IN_200],
  ['CompleteMultipartUpload', 'answers 200 with an error in disguise', 503, 'service_unavailable', DISGUISED_ERROR],
  ['CompleteMultipartUpload', 'meets another', 503, 'service_unavailable', s3Error(409, 'ConditionalRequestConflict')],
  ['CompleteMultipartUpload', 'has lost the upload', 503, 'request_timed_out', s3Error(404, 'NoSuchUpload')],
]

/** After these, what was sent may still arrive, so that a stray is kept for it. */
const MAY_BE_LATE: Record<string, RegExp> = {
  'ledger.hold': /^(?!throttles|limits)/,
  'ledger.makeWorkspace': /^/,
  CopyObject: /slow down|inside|connection|never|with an error$|with nothing/,
  CreateMultipartUpload: /slow down|inside|connection|loses/,
  UploadPartCopy: /connection|never/,
  CompleteMultipartUpload: /slow down|inside|connection|with an error$/,
}
export const straysAfter = (call: string, what: string): number => (MAY_BE_LATE[call]?.test(what) ? 1 : 0)

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
