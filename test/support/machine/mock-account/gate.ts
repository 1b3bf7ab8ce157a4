import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { TableDescription } from '@aws-sdk/client-dynamodb'
import { close, LOOPBACK, listen } from '../../../../infra/local/loopback.ts'
import { storeAt } from '../../aws/store.ts'
import { TO_CHOOSE_A_KEY } from '../../template/cloudformation-accesses.ts'
import { accessesIn } from '../../template/cloudformation-asking.ts'
import type { Access } from '../../template/iam-accesses.ts'
import {
  type ApiRequest,
  accessesOfRequest,
  accessesOfTemplate,
  signedFor,
  signerOf,
  TABLES_KEY,
  templateIn,
} from './identities.ts'

/**
 * Stands before the mock account, which judges nobody, and writes down what each identity asks for, as IAM sees it: whoever
 * signs with the key of an identity. What CloudFormation does for it counts as its own doing.
 */
export async function startGate(account: string, identities: readonly string[]) {
  const asked = new Map(identities.map((identity): [string, Access[]] => [identity, []]))
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

  const keysOfTables = new Map<string, string | undefined>()
  async function keyOf(TableName: string, region: string): Promise<string | undefined> {
    const headers = { ...signedFor('dynamodb', region), 'x-amz-target': 'DynamoDB_20120810.DescribeTable' }
    const answer = await fetch(account, { method: 'POST', headers, body: JSON.stringify({ TableName }) })
    const { Table } = (await answer.json()) as { Table?: TableDescription }
    return Table?.SSEDescription?.KMSMasterKeyArn
  }

  /** Where a table has a key, DynamoDB uses it for its caller (KMS developer guide, "How Amazon DynamoDB uses AWS KMS"). */
  async function accessesOfTableKeys(request: ApiRequest): Promise<Access[]> {
    const { region, service } = signerOf(request)
    const [, action = ''] = `${request.headers['x-amz-target']}`.split('.')
    const restores = action.startsWith('Restore')
    // Only doctor scans, without a right to.
    if (service !== 'dynamodb' || !(restores || /(Item|Query)$/.test(action))) return []
    const { TableName, SourceTableName, RequestItems = {} } = JSON.parse(request.body)
    const name = TableName ?? SourceTableName ?? Object.keys(RequestItems)[0]
    if (!keysOfTables.has(name)) keysOfTables.set(name, await keyOf(name, region))
    const key = keysOfTables.get(name)
    const context = { 'kms:ViaService': `dynamodb.${region}.amazonaws.com` }
    const asked = restores ? TO_CHOOSE_A_KEY : 'kms:Decrypt DescribeKey'
    // Everybody in the account may use AWS's own.
    return key === TABLES_KEY ? accessesIn([[key, asked, context]]) : []
  }

  async function accessesOf(request: ApiRequest, status: number): Promise<Access[]> {
    const template = templateIn(request)
    const text = template && ('body' in template ? template.body : await contentOf(template.object))
    const byTemplate = text === undefined ? [] : accessesOfTemplate(text, request)
    const accesses = accessesOfRequest(request, status)
    const ofKeys = await Promise.all([accessesOfKeys(accesses, request), accessesOfTableKeys(request)])
    return [...accesses, ...byTemplate, ...ofKeys.flat()]
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const { method = '', url = '', headers } = incoming
    const { accessKeyId, service } = signerOf(incoming)
    // The body of a request to S3 does not say what it needs, and may be a large file.
    const request: ApiRequest = { method, url, headers, body: service === 's3' ? '' : body.toString() }
    const answer = await store({ method, path: url, headers, body })
    asked.get(accessKeyId)?.push(...(await accessesOf(request, answer.status)))
    outgoing.writeHead(answer.status, answer.headers).end(answer.body)
  }
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: Error) => {
      console.error(error)
      outgoing.writeHead(500).end(error.message)
    })
  })
  const stop = async () => {
    await close(server)
    store.close()
  }
  return { endpoint: `http://${LOOPBACK}:${await listen(server, 0)}`, asked, stop }
}
