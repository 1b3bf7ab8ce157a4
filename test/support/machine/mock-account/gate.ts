import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { close, LOOPBACK, listen } from '../../../../infra/local/loopback.ts'
import { storeAt } from '../../aws/store.ts'
import type { Access } from '../../template/iam-accesses.ts'
import { isAllowed, type Statement } from '../../template/iam-policies.ts'
import {
  type ApiRequest,
  accessesOfRequest,
  accessesOfTemplate,
  signedFor,
  signerOf,
  templateIn,
} from './identities.ts'
import { sessionIn } from './sessions.ts'

/**
 * IAM in front of the mock account: whoever signs with the key of an identity may do what its policies allow, and what
 * CloudFormation does for it counts as its own doing. Whoever assumes a role may do what that role and the policy of the
 * session both allow. All others may do everything.
 * @param identities policies by access key
 */
export async function startGate(account: string, identities: Readonly<Record<string, Statement[]>>) {
  /** The requests of each identity that were allowed. */
  const used = new Map<string, Access[]>(Object.keys(identities).map((id) => [id, []]))
  /** The requests that were refused. */
  const refused: Access[] = []
  /** By access key: statements that must each allow it. Sessions come to it as they are begun. */
  const limits = new Map(Object.entries(identities).map(([id, statements]) => [id, [statements]]))

  /** @returns what is not allowed, if anything */
  function refusal(accesses: Access[], accessKeyId: string): Access | undefined {
    const found = accesses.find((access) => !limits.get(accessKeyId)?.every((each) => isAllowed(each, access)))
    if (!found) used.get(accessKeyId)?.push(...accesses)
    else if (accessKeyId in identities) refused.push(found)
    return found
  }

  const store = storeAt(account)
  const contentOf = async (object: string) => (await fetch(account + object, { headers: signedFor('s3') })).text()

  /** Where a bucket has a key, S3 uses it for its caller: S3 user guide, "Using server-side encryption with AWS KMS keys". */
  async function accessesOfKeys(accesses: Access[], { method, url, ...request }: ApiRequest): Promise<Access[]> {
    const context = { 'kms:ViaService': `s3.${signerOf(request).region}.amazonaws.com` }
    const writing = /[?&]upload(s|Id)\b/.test(url) ? ['GenerateDataKey', 'Decrypt'] : ['GenerateDataKey']
    const uses = accesses.map(async ({ action, resource: object }) => {
      const names = { PutObject: writing, GetObject: ['Decrypt'] }[action.replace(/^s3:|Version$/g, '')]
      if (names === undefined || method === 'HEAD') return []
      const settings = await contentOf(`/${object.split(/:::|\//)[1]}?encryption`)
      const [, resource] = /<KMSMasterKeyID>([^<]+)</.exec(settings) ?? []
      return resource === undefined ? [] : names.map((name) => ({ action: `kms:${name}`, resource, context }))
    })
    return (await Promise.all(uses)).flat()
  }

  async function serve(asked: IncomingMessage, answered: ServerResponse): Promise<void> {
    const body = await buffer(asked)
    const { method = '', url = '', headers } = asked
    const { accessKeyId, service } = signerOf(asked)
    // The body of a request to S3 does not say what it needs, and may be a large file.
    const request: ApiRequest = { method, url, headers, body: service === 's3' ? '' : body.toString() }
    const isKnown = limits.has(accessKeyId)
    const template = isKnown ? templateIn(request) : undefined
    const text = template && ('body' in template ? template.body : await contentOf(template.object))
    const byTemplate = text === undefined ? [] : accessesOfTemplate(text, request)
    const accesses = isKnown ? [...accessesOfRequest(request), ...byTemplate] : []
    const denied = isKnown && refusal([...accesses, ...(await accessesOfKeys(accesses, request))], accessKeyId)
    if (denied) return refuse(denied, request, answered)
    const answer = await store({ method, path: url, headers, body })
    const session = service === 'sts' ? await sessionIn(request, answer.body.toString(), account) : undefined
    if (session) limits.set(session.accessKeyId, session.limits)
    // A HEAD that finds nothing needs more rights.
    const takesMore = isKnown && method === 'HEAD'
    const isRefused = takesMore && refusal(accessesOfRequest(request, answer.status), accessKeyId)
    answered.writeHead(isRefused ? 403 : answer.status, answer.headers).end(answer.body)
  }
  const server = createServer((asked, answered) => {
    serve(asked, answered).catch((error: Error) => {
      console.error(error)
      answered.writeHead(500).end(error.message)
    })
  })
  const stop = async () => {
    await close(server)
    store.close()
  }
  return { endpoint: `http://${LOOPBACK}:${await listen(server, 0)}`, used, refused, stop }
}

/** Refuses as IAM does, in the words of each protocol. */
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
