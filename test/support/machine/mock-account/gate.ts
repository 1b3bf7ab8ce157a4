import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { close, LOOPBACK, listen } from '../../../../infra/local/loopback.ts'
import type { Access } from '../../template/iam-accesses.ts'
import { isAllowed, type Statement } from '../../template/iam-policies.ts'
import { type ApiRequest, accessesOfRequest, accessesOfTemplate, signerOf, templateIn } from './identities.ts'

interface Gate {
  endpoint: string
  /** What each identity asked for, and was allowed. */
  used: Map<string, Access[]>
  /** What was refused. */
  refused: Access[]
  stop(): Promise<void>
}

/**
 * IAM before the mock account: whoever signs with the access key of an identity may do what its policies allow, and what
 * CloudFormation does for it is its own doing. All others may do everything.
 * @param identities policies by access key
 */
export async function startGate(account: string, identities: Readonly<Record<string, Statement[]>>): Promise<Gate> {
  const used = new Map<string, Access[]>(Object.keys(identities).map((id) => [id, []]))
  const refused: Access[] = []

  /** @returns what is not allowed, if anything */
  function refusal(accesses: Access[], accessKeyId: string): Access | undefined {
    const found = accesses.find((access) => !isAllowed(identities[accessKeyId] ?? [], access))
    if (found) refused.push(found)
    else used.get(accessKeyId)?.push(...accesses)
    return found
  }

  const s3 = new S3Client({
    endpoint: account,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  async function contentOf(object: string): Promise<string> {
    const [, Bucket = '', ...segments] = decodeURIComponent(object).split('/')
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: segments.join('/') }))
    return (await Body?.transformToString()) ?? ''
  }

  async function serve(asked: IncomingMessage, answered: ServerResponse): Promise<void> {
    const raw = await buffer(asked)
    const { method = '', url = '', headers } = asked
    const request: ApiRequest = { method, url, headers, body: raw.toString() }
    const { accessKeyId } = signerOf(request)
    if (!(accessKeyId in identities)) return pass(asked, raw, answered)
    const template = templateIn(request)
    const text = template && ('body' in template ? template.body : await contentOf(template.object))
    const byTemplate = text === undefined ? [] : accessesOfTemplate(text, request)
    const denied = refusal([...accessesOfRequest(request), ...byTemplate], accessKeyId)
    if (denied) return refuse(denied, request, answered)
    // A HEAD that finds nothing takes more.
    const more = (status: number) =>
      method === 'HEAD' ? refusal(accessesOfRequest(request, status), accessKeyId) : undefined
    return pass(asked, raw, answered, more)
  }

  function pass(asked: IncomingMessage, raw: Buffer, answered: ServerResponse, more?: (status: number) => unknown) {
    const { method, url, headers } = asked
    const passed = ask(account + url, { method, headers }, (answer) => {
      const { statusCode = 500 } = answer
      answered.writeHead(more?.(statusCode) ? 403 : statusCode, answer.headers)
      answer.pipe(answered)
    })
    passed.on('error', () => answered.destroy())
    passed.end(raw)
  }

  const server = createServer((asked, answered) => {
    serve(asked, answered).catch((error: Error) => {
      console.error(error)
      answered.writeHead(500).end(error.message)
    })
  })
  return {
    endpoint: `http://${LOOPBACK}:${await listen(server, 0)}`,
    used,
    refused,
    stop: () => close(server),
  }
}

/** As IAM refuses, in the words of each protocol. */
function refuse({ action, resource }: Access, request: ApiRequest, answered: ServerResponse): void {
  const message = `User is not authorized to perform: ${action} on resource: ${resource}`
  const { service } = signerOf(request)
  if (['s3', 'cloudformation', 'sns', 'sts'].includes(service)) {
    const error = `<Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`
    const text = service === 's3' ? error : `<ErrorResponse>${error}</ErrorResponse>`
    answered.writeHead(403, { 'content-type': 'application/xml' }).end(text)
    return
  }
  answered
    .writeHead(service === 'dynamodb' ? 400 : 403, {
      'content-type': 'application/json',
      'x-amzn-errortype': 'AccessDeniedException',
    })
    .end(JSON.stringify({ __type: 'AccessDeniedException', message }))
}
