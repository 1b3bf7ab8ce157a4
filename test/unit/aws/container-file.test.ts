import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { requireSignature } from '../../../infra/local/stores/s3-signatures.ts'
import { resolveMimeType } from '../../../lib/containers/mime-type.ts'
import { CREDENTIALS } from '../../support/stores/answering-stores.ts'
import { type Answer, object, s3Error, startScriptedS3, status } from '../../support/stores/scripted-s3.ts'
import { skipWaits } from '../../support/virtual-waits.ts'

skipWaits()

let s3: Awaited<ReturnType<typeof startScriptedS3>>
afterEach(() => s3.stop())

const signal = AbortSignal.timeout(900_000)
/** @param script of an S3 of its own */
const find = async (script: Parameters<typeof startScriptedS3>[0]) => {
  s3 = await startScriptedS3(script)
  return s3.store.findContainerFile('sandboxes/ws_1/sess_1/a.csv', signal)
}
const BUSY = s3Error(503, 'SlowDown')
/** As Node.js sends and receives the bytes of UTF-8. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

it.each([
  ['UTF-8', utf8('text/plain; name=отчёт'), utf8('gzip é'), utf8('język')],
  ['Latin-1', 'text/plain; name=caf\xe9', 'caf\xe9', '\xe9'],
])(
  'a file with headers that are not plain ASCII is looked up without them and copied with a right signature: %s',
  async (_, type, encoding, language) => {
    const odd = { 'content-type': type, 'content-encoding': encoding, 'content-language': language }
    const source = await find({ 'HeadObject sandboxes': object({ 'content-length': '5', ...odd }) })
    if (!source) throw new Error('not found')
    expect(source).toMatchObject({ contentType: undefined, contentEncoding: undefined, contentLanguage: undefined })
    expect(await resolveMimeType(source, 'report.csv')).toBe('text/csv')
    await s3.store.copy({ source, objectKey: 'd', mimeType: 'text/csv' }, signal)
    const [copy] = s3.requests('CopyObject')
    expect(() => requireSignature(copy as IncomingMessage, CREDENTIALS)).not.toThrow()
    expect(copy?.headers).not.toHaveProperty('content-language')
  },
)

describe('a file written in chunks, or in parts', () => {
  it.each([
    ['aws-chunked,gzip', 'gzip'],
    ['gzip, AWS-Chunked , ,br', 'gzip, br'],
    ['aws-chunked', undefined],
  ])('is copied with the encodings of its content only: %j', async (stored, sent) => {
    const head = object({ 'content-length': '5', 'content-encoding': stored })
    const source = await find({ 'HeadObject sandboxes': head })
    if (source) await s3.store.copy({ source, objectKey: 'd', mimeType: 'text/csv' }, signal)
    expect(s3.requests('CopyObject')[0]?.headers['content-encoding']).toBe(sent)
  })

  it('is read at its beginning without the checksum of its parts, which is none of these bytes', async () => {
    const checksum = { 'x-amz-checksum-crc32': 'AAAAAA==' }
    const GetObject: Answer = ({ headers }, response) =>
      void response.writeHead(206, headers['x-amz-checksum-mode'] ? checksum : {}).end('ab')
    const source = await find({ GetObject })
    expect(source && Buffer.from(await s3.store.readStart(source, 2, signal)).toString()).toBe('ab')
  })
})

describe('a file that S3 lets nobody read', () => {
  // A bucket of which nobody reads an object is not listed for them either.
  const findUnread = (script: object) => find({ ListObjectsV2: s3Error(403, 'AccessDenied'), ...script })

  it.each([
    ['only its writer has the key (SSE-C)', 'InvalidRequest'],
    ['its KMS key awaits deletion', 'KMS.KMSInvalidStateException'],
  ])('because %s is refused with a reason of its own', async (_, code) => {
    const script = { 'HeadObject sandboxes': status(400), GetObject: s3Error(400, code) }
    const cause = { $metadata: { httpStatusCode: 400 } }
    await expect(findUnread(script)).rejects.toMatchObject({ reason: 'container_file_encrypted', cause })
  })

  it.each([
    ['expired credentials', s3Error(400, 'ExpiredToken')],
    ['another region', s3Error(400, 'AuthorizationHeaderMalformed')],
    ['nothing that a second look shows', ((_, response) => void response.writeHead(206).end('x')) satisfies Answer],
  ])('is not taken for encrypted by its writer because of %s', async (_, answer) => {
    const finding = findUnread({ 'HeadObject sandboxes': status(400), GetObject: answer })
    await expect(finding).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } })
    expect(s3.requests('GetObject')[0]?.headers.range).toBe('bytes=0-0')
  })

  it('is our fault when the bucket is in another Region, which the error names', async () => {
    const head: Answer = (_, response) => response.writeHead(301, { 'x-amz-bucket-region': 'eu-west-3' }).end()
    await expect(findUnread({ 'HeadObject sandboxes': head })).rejects.toMatchObject({ bucketRegion: 'eu-west-3' })
  })

  it('is still our fault when our role lacks the permission', async () => {
    const refusal = { call: 'HeadObject', $metadata: { httpStatusCode: 403 } }
    await expect(findUnread({ 'HeadObject sandboxes': status(403) })).rejects.toMatchObject(refusal)
    expect(s3.calls()).toEqual(['HeadObject sandboxes', 'ListObjectsV2'])
  })

  it.each([
    [400, 'GetObject', { 'HeadObject sandboxes': status(400), GetObject: BUSY }],
    [403, 'ListObjectsV2', { 'HeadObject sandboxes': status(403), ListObjectsV2: BUSY }],
  ])('is 503 while the second look at a %d fails: %s', async (_, second, script) => {
    await expect(findUnread(script)).rejects.toMatchObject({ reason: 'service_unavailable' })
    expect(s3.calls().at(-1)).toBe(second)
  })
})
