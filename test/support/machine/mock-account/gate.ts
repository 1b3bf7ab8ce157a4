import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { PutItemInput, QueryInput, UpdateItemInput } from '@aws-sdk/client-dynamodb'
import { close, LOOPBACK, listen } from '../../../../infra/local/loopback.ts'
import { storeAt } from '../../aws/store.ts'
import { accessesIn } from '../../template/cloudformation-asking.ts'
import { type Access, accessesOf } from '../../template/iam-accesses.ts'

type ApiRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }

/** The account in which moto puts everybody that it does not know. */
export const MOCK_ACCOUNT = '123456789012'
/** The prefix of a service's actions, where it differs from the name in a signature's scope. */
const PREFIXES: Record<string, string> = { monitoring: 'cloudwatch', tagging: 'tag' }
/** Actions by what follows the function's name in the path (Lambda API reference). */
const OF_FUNCTIONS: Record<string, string> = {
  'GET ': 'GetFunction',
  'GET configuration': 'GetFunctionConfiguration',
  'GET concurrency': 'GetFunctionConcurrency',
  'GET aliases': 'GetAlias',
}

/**
 * Stands before the mock account, which judges nobody, and writes down what each identity asks for, as IAM sees it: whoever
 * signs with the key of an identity.
 */
export async function startGate(account: string, identities: readonly string[]) {
  const asked = new Map(identities.map((identity): [string, Access[]] => [identity, []]))
  const store = storeAt(account)

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const { method = '', url = '', headers } = incoming
    const { accessKeyId, service } = signerOf(headers)
    // The body of a request to S3 does not say what it needs, and may be a large file.
    const request: ApiRequest = { method, url, headers, body: service === 's3' ? '' : body.toString() }
    const answer = await store({ method, path: url, headers, body })
    asked.get(accessKeyId)?.push(...accessesOfRequest(request, answer.status))
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

/** Access key, Region and service of a signed request. */
function signerOf({ authorization = '' }: IncomingHttpHeaders) {
  const [, accessKeyId = '', region = '', service = ''] =
    /Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\//.exec(authorization) ?? []
  return { accessKeyId, region, service }
}

/**
 * The permissions that a request needs (Service Authorization Reference), in full ARNs.
 * @throws Error for a request that nobody has foreseen here
 */
function accessesOfRequest({ method = '', url = '', headers, body }: ApiRequest, status: number): Access[] {
  const { region, service } = signerOf(headers)
  const arn = (rest: string) => `arn:aws:${service}:${region}:${MOCK_ACCOUNT}:${rest}`
  const parameters: Partial<Record<string, string>> = Object.fromEntries(new URLSearchParams(body))
  const [, operation] = /\/operation\/(\w+)/.exec(url) ?? []
  const action = operation ?? parameters.Action ?? `${headers['x-amz-target']}`.split('.').at(-1)
  const asks = (resource: string, name = action) => [{ action: `${PREFIXES[service] ?? service}:${name}`, resource }]
  switch (service) {
    case 'dynamodb':
      if (action === 'RestoreTableToPointInTime') return accessesOfRestore(JSON.parse(body), arn)
      if (action === 'ListTables') return asks('*')
      return accessesOf({ method, url, headers }, body, status).map((access) => ({
        ...access,
        resource: arn(access.resource),
        context: leadingKeys(JSON.parse(body)),
      }))
    case 's3':
      return accessesOf({ method, url, headers }, body, status).map((access) => ({
        ...access,
        resource: `arn:aws:s3:::${access.resource}`,
        context: { 'aws:ResourceAccount': MOCK_ACCOUNT, ...access.context },
      }))
    case 'apigateway':
      return asks(`arn:aws:apigateway:${region}::${url}`, method)
    case 'lambda': {
      const [, name = '', , kind = ''] = /\/functions\/([^/?]+)(\/([a-z-]+))?/.exec(url) ?? []
      if (/\/account-settings/.test(url)) return asks('*', 'GetAccountSettings')
      if (/\/event-source-mappings/.test(url)) return asks('*', 'ListEventSourceMappings')
      const ofFunction = OF_FUNCTIONS[`${method} ${kind}`]
      if (!name || !ofFunction) break
      return asks(arn(`function:${decodeURIComponent(name)}`), ofFunction)
    }
    case 'cloudformation': {
      const stackName = parameters.StackName?.replace(/^.*:stack\/([^/]+).*$/, '$1')
      return asks(action === 'ValidateTemplate' ? '*' : arn(`stack/${stackName}/0aaaaaaa-1111`))
    }
    case 'sns':
      return asks(parameters.TopicArn ?? '*')
    case 'events': {
      const { EventBusName: bus, Name, Rule = Name } = JSON.parse(body)
      return asks(arn(bus === undefined ? `event-bus/${Name}` : `rule/${bus}/${Rule}`))
    }
    case 'sqs': {
      const { QueueUrl, QueueName = basename(QueueUrl) } = JSON.parse(body)
      return asks(arn(QueueName))
    }
    case 'ecr':
      return asks(arn('repository'))
    case 'sts':
    case 'monitoring':
    case 'tagging':
      return asks('*')
  }
  throw new Error(
    `no permission is known for ${service} ${method} ${url}: add it to test/support/machine/mock-account/gate.ts`,
  )
}

/** DynamoDB developer guide, "Restoring a table to a point in time": it writes the new table by the caller's rights. */
function accessesOfRestore(
  { SourceTableName, TargetTableName }: { SourceTableName: string; TargetTableName: string },
  arn: (rest: string) => string,
): Access[] {
  const restore = 'dynamodb:RestoreTableToPointInTime'
  return accessesIn([
    [arn(`table/${SourceTableName}`), restore],
    [arn(`table/${TargetTableName}`), `${restore} BatchWriteItem DeleteItem GetItem PutItem Query Scan UpdateItem`],
  ])
}

/**
 * The workspace that a request names as its partition key; a scan names none. Policies limit no other
 * (DynamoDB developer guide, "Using IAM policy conditions").
 */
function leadingKeys(request: Partial<UpdateItemInput & PutItemInput & QueryInput>): NonNullable<Access['context']> {
  const [, name = '', value = ''] = /([#\w]+)\s*=\s*(:\w+)/.exec(request.KeyConditionExpression ?? '') ?? []
  const asked = { [request.ExpressionAttributeNames?.[name] ?? name]: request.ExpressionAttributeValues?.[value] }
  const workspace = (request.Key ?? request.Item ?? asked).workspace_id?.S
  return workspace === undefined ? {} : { 'dynamodb:LeadingKeys': [workspace] }
}
