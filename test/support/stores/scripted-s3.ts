import type { IncomingMessage } from 'node:http'
import { createS3Client } from '../../../lib/aws/clients.ts'
import { createObjectStore } from '../../../lib/aws/s3/object-store.ts'
import { nameS3Call } from '../aws/name-s3-call.ts'
import { type Answer, answerWith, CREDENTIALS } from './answering-stores.ts'

export { type Answer, BROKEN, NO_HTTP } from './answering-stores.ts'

const MIB = 1024 * 1024
export const SIZE_BYTES = 11 * MIB
export const SOURCE_ETAG = `"${'0'.repeat(32)}"`

/** One answer for ever, or one after the other, the last one for ever. */
type Script = Record<string, Answer | Answer[]>

export const xml = (body: string, status = 200): Answer => {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/xml' }).end(body)
}
export const s3Error = (status: number, code: string): Answer =>
  xml(`<Error><Code>${code}</Code><Message>m</Message></Error>`, status)
/** Like HeadObject's errors: a status without a body. */
export const status = (code: number): Answer => {
  return (_, response) => response.writeHead(code).end()
}
export const object = (headers: Record<string, string> = {}): Answer => {
  return (_, response) => {
    response.writeHead(200, { 'content-length': String(SIZE_BYTES), etag: SOURCE_ETAG, ...headers }).end()
  }
}
const GOOD: Script = {
  'HeadObject sandboxes': object(),
  'HeadObject documents': status(404),
  CopyObject: xml(`<CopyObjectResult><ETag>${SOURCE_ETAG}</ETag></CopyObjectResult>`),
  CreateMultipartUpload: xml('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>'),
  UploadPartCopy: xml('<CopyPartResult><ETag>"part"</ETag></CopyPartResult>'),
  CompleteMultipartUpload: xml(
    `<CompleteMultipartUploadResult><ETag>"${'1'.repeat(32)}-2"</ETag></CompleteMultipartUploadResult>`,
  ),
}

/** The real adapter on an S3 that follows a script, and succeeds where the script says nothing. */
export async function startScriptedS3(script: Script = {}) {
  const calls: { name: string; request: IncomingMessage }[] = []
  const { port, stop } = await answerWith((request) => {
    const operation = nameS3Call({ method: request.method ?? '', path: request.url ?? '' }, request.headers)
    const name = operation === 'HeadObject' ? `${operation} ${request.url?.split('/')[1]}` : operation
    const answers = [script[name] ?? GOOD[name] ?? status(501)].flat()
    const earlier = calls.filter((call) => call.name === name).length
    calls.push({ name, request })
    return answers[Math.min(earlier, answers.length - 1)]
  })
  const client = createS3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: CREDENTIALS,
    forcePathStyle: true,
  })
  const store = createObjectStore({
    client,
    sandboxBucket: 'sandboxes',
    documentsBucket: 'documents',
    multipartThresholdBytes: 10 * MIB,
  })
  return {
    store,
    /** Names of all calls, in their order. */
    calls: () => calls.map(({ name }) => name),
    requests: (name: string) => calls.filter((call) => call.name === name).map(({ request }) => request),
    stop() {
      client.destroy()
      stop()
    },
  }
}
