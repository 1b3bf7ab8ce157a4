import { afterEach, describe, expect, it } from 'vitest'
import type { ContainerFile } from '../../../lib/containers/container-files.ts'
import { drip } from '../../support/protocol/fault-proxy.ts'
import {
  type Answer,
  BROKEN,
  object,
  SIZE_BYTES,
  SOURCE_ETAG,
  s3Error,
  startScriptedS3,
  status,
  xml,
} from '../../support/stores/scripted-s3.ts'

type Script = NonNullable<Parameters<typeof startScriptedS3>[0]>

const LARGE = { objectKey: 'a.bin', sizeBytes: SIZE_BYTES, etag: SOURCE_ETAG } as ContainerFile
const SMALL = { ...LARGE, sizeBytes: 5 }

let s3: Awaited<ReturnType<typeof startScriptedS3>>
afterEach(() => s3.stop())

async function copy(source: ContainerFile, script: Script, signal = AbortSignal.timeout(900_000)) {
  // That of an earlier copy.
  s3?.stop()
  s3 = await startScriptedS3(script)
  return s3.store.copy({ source, objectKey: 'd', mimeType: 'text/plain' }, signal)
}
const timesSent = (name: string) => s3.calls().filter((call) => call === name).length
const unavailable = { reason: 'service_unavailable', isUnanswered: true }
const SHA256 = { hex: 'ff'.repeat(32), base64: `${'/'.repeat(42)}8=` }
const small = object({ 'content-length': '5', 'x-amz-checksum-sha256': SHA256.base64 })

it.each([
  ['what S3 computed', SHA256.base64, SHA256.hex],
  ['unknown where S3 tells none', '', undefined],
  ['unknown where S3 tells that of checksums', `${SHA256.base64}-2`, undefined],
])('the SHA-256 of a copy is %s', async (_, checksum, sha256) => {
  const told = `<ETag>${SOURCE_ETAG}</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256>`
  const CopyObject = xml(`<CopyObjectResult>${told}</CopyObjectResult>`)
  expect(await copy(SMALL, { CopyObject })).toEqual(expect.objectContaining({ sha256 }))
  expect(s3.requests('CopyObject')[0]?.headers['x-amz-checksum-algorithm']).toBe('SHA256')
})

describe('a copy whose answer is lost', () => {
  it('has succeeded when the object is there, sent once', async () => {
    await expect(copy(SMALL, { CopyObject: BROKEN })).rejects.toMatchObject(unavailable)
    expect(timesSent('CopyObject')).toBe(1)
    const found = await copy(SMALL, { CopyObject: BROKEN, 'HeadObject documents': small })
    expect(found).toMatchObject({ sha256: SHA256.hex })
    expect(s3.requests('HeadObject documents')[0]?.headers['x-amz-checksum-mode']).toBe('ENABLED')
    expect(timesSent('CopyObject')).toBe(1)
  })

  it.each([
    ['what is there has another size', object({ 'content-length': '4' })],
    ['nobody can look', status(403)],
  ])('is in doubt when %s', async (_, head) => {
    await expect(copy(SMALL, { CopyObject: BROKEN, 'HeadObject documents': head })).rejects.toMatchObject(unavailable)
  })
})

describe('a copy to a key that must be new', () => {
  const [exists, conflict] = [s3Error(412, 'PreconditionFailed'), s3Error(409, 'ConditionalRequestConflict')]
  const cases = [
    ['CopyObject', SMALL, small],
    ['CompleteMultipartUpload', LARGE, object()],
  ] as const
  const refused = cases.flatMap(([call, ...rest]) => [
    [call, '412', ...rest, exists] as const,
    [call, '409', ...rest, conflict] as const,
  ])

  it.each(refused)('asks for that with %s; after %s, has succeeded when its object is there', async (...named) => {
    const [call, , source, there, answer] = named
    await copy(source, { [call]: [s3Error(500, 'InternalError'), answer], 'HeadObject documents': there })
    expect(s3.requests(call).map(({ headers }) => headers['if-none-match'])).toContain('*')
    await copy(source, { [call]: answer, 'HeadObject documents': there })
    expect(timesSent('HeadObject documents')).toBe(1)
  })

  it.each(refused)('%s: has failed after %s when none is there, and nothing is in doubt', async (...named) => {
    const [call, status, source, , answer] = named
    const reason = status === '412' ? 'container_file_changed' : 'service_unavailable'
    await expect(copy(source, { [call]: answer })).rejects.toMatchObject({ reason, isUnanswered: false })
    expect(timesSent('HeadObject documents')).toBe(1)
  })
})

const disabled = s3Error(400, 'KMS.DisabledException')

it.each([
  ['is refused when it is that of the file', 'CopyObject', SMALL, disabled, 'container_file_encrypted'],
  ['is refused when it is that of the file', 'CreateMultipartUpload', LARGE, disabled, 'container_file_encrypted'],
  ['is a 503 when nobody can tell', 'CopyObject', SMALL, s3Error(403, 'AccessDenied'), 'service_unavailable'],
] as const)('a copy that needs a KMS key which is disabled %s: %s', async (_, call, source, GetObject, reason) => {
  const refusal = { reason, isUnanswered: false, cause: { name: 'KMS.DisabledException', message: 'm', call } }
  await expect(copy(source, { [call]: disabled, GetObject })).rejects.toMatchObject(refusal)
})

describe('a completion of an upload', () => {
  const complete = 'CompleteMultipartUpload'

  it('that is still at work when the time is over is in doubt: S3 may take minutes', async () => {
    const stop = new AbortController()
    const drips: Answer = (_, response) => {
      drip(response)
      setTimeout(() => stop.abort(), 40)
    }
    const late = { reason: 'request_timed_out', isUnanswered: true }
    await expect(copy(LARGE, { [complete]: drips }, stop.signal)).rejects.toMatchObject(late)
    expect(timesSent(complete)).toBe(1)
  })

  const failed = s3Error(500, 'InternalError')
  const gone = s3Error(404, 'NoSuchUpload')

  it('that failed and was applied all the same is found done by the next one, whatever S3 answers to it', async () => {
    await copy(LARGE, { [complete]: [failed, gone], 'HeadObject documents': object() })
    const again = xml('<CompleteMultipartUploadResult><ETag>"e-2"</ETag></CompleteMultipartUploadResult>')
    await copy(LARGE, { [complete]: [failed, again], 'HeadObject documents': status(403) })
    expect(timesSent(complete)).toBe(2)
  })

  it('whose upload is gone has failed when what is there has another size', async () => {
    const other = object({ 'content-length': '4' })
    const failure = { reason: 'request_timed_out', isUnanswered: false }
    await expect(copy(LARGE, { [complete]: gone, 'HeadObject documents': other })).rejects.toMatchObject(failure)
  })
})

describe('fixed: a copy that S3 answered with 5xx, and a later try with a refusal,', () => {
  const failed = s3Error(500, 'InternalError')
  it.each<[string, typeof SMALL, Answer, string]>([
    ['CopyObject', SMALL, s3Error(412, 'PreconditionFailed'), 'container_file_changed'],
    ['CopyObject', SMALL, s3Error(403, 'InvalidObjectState'), 'container_file_archived'],
    ['CopyObject', SMALL, s3Error(403, 'AccessDenied'), 'internal_error'],
    ['CopyObject', SMALL, failed, 'service_unavailable'],
    ['CompleteMultipartUpload', LARGE, s3Error(404, 'NoSuchUpload'), 'request_timed_out'],
  ])('may still make its object: %s, %#', async (call, source, refused, reason) => {
    const script = { [call]: [failed, refused, refused], 'HeadObject documents': status(404) }
    await expect(copy(source, script)).rejects.toMatchObject({ reason, isUnanswered: true })
    if (refused === failed) return
    const once = copy(source, { [call]: refused, 'HeadObject documents': status(404) })
    await expect(once).rejects.not.toMatchObject({ isUnanswered: true })
  })
})
