import type { IncomingHttpHeaders } from 'node:http'
import { basename } from 'node:path'
import { accessesOfStack } from '../../template/cloudformation-accesses.ts'
import type { StackPlace } from '../../template/cloudformation-names.ts'
import { type Access, accessesOf } from '../../template/iam-accesses.ts'
import type { Resource } from '../../template/packages.ts'

export interface ApiRequest {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** The account in which moto puts everybody that it does not know. */
export const MOCK_ACCOUNT = '123456789012'
/** The key of tables, where they have one of their own. */
export const TABLES_KEY = `arn:aws:kms:eu-west-1:${MOCK_ACCOUNT}:key/0bbbbbbb-1111-2222-3333-444444444444`
/** The prefix of a service's actions, where it differs from the name in a signature's scope. */
const PREFIXES: Record<string, string> = { monitoring: 'cloudwatch' }
/** Actions by what follows the function's name in the path (Lambda API reference). */
const OF_FUNCTIONS: Record<string, string> = {
  'GET ': 'GetFunction',
  'GET configuration': 'GetFunctionConfiguration',
  'GET concurrency': 'GetFunctionConcurrency',
  'GET aliases': 'GetAlias',
}

type Signed = Pick<ApiRequest, 'headers'>
/** Access key and service of a signed request. */
export function signerOf({ headers }: Signed): { accessKeyId: string; region: string; service: string } {
  const [, accessKeyId = '', region = '', service = ''] =
    /Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\//.exec(headers.authorization ?? '') ?? []
  return { accessKeyId, region, service }
}

/** moto checks whether a request is signed, not by whom. */
export const signedFor = (service: string, region = 'us-east-1') => ({
  authorization: `AWS4-HMAC-SHA256 Credential=test/20261121/${region}/${service}/aws4_request, Signature=x`,
})

/**
 * The permissions that a request needs (Service Authorization Reference), in full ARNs.
 * @param status of its answer, where that is known
 * @throws Error for a request that nobody has foreseen here
 */
export function accessesOfRequest(request: ApiRequest, status = 200): Access[] {
  const { method, url, headers, body } = request
  const { region, service } = signerOf(request)
  const arn = (rest: string) => `arn:aws:${service}:${region}:${MOCK_ACCOUNT}:${rest}`
  switch (service) {
    case 'dynamodb':
      if (targetOf(headers) === 'RestoreTableToPointInTime') return accessesOfRestore(JSON.parse(body), arn)
      if (targetOf(headers) === 'ListTables') return [{ action: 'dynamodb:ListTables', resource: '*' }]
      return accessesOf(request, body, status).map((access) => ({
        ...access,
        resource: arn(access.resource),
        context: leadingKeys(JSON.parse(body)),
      }))
    case 's3':
      return accessesOf(request, body, status).map((access) => ({
        ...access,
        resource: `arn:aws:s3:::${access.resource}`,
        context: { 'aws:ResourceAccount': MOCK_ACCOUNT, ...access.context },
      }))
    case 'apigateway':
      return [{ action: `apigateway:${method}`, resource: `arn:aws:apigateway:${region}::${url}` }]
    case 'lambda': {
      const [, name = '', , kind = ''] = /\/functions\/([^/?]+)(\/([a-z-]+))?/.exec(url) ?? []
      if (/\/account-settings/.test(url)) return [{ action: 'lambda:GetAccountSettings', resource: '*' }]
      if (/\/event-source-mappings/.test(url)) return [{ action: 'lambda:ListEventSourceMappings', resource: '*' }]
      const action = OF_FUNCTIONS[`${method} ${kind}`]
      if (!name || !action) break
      return [{ action: `lambda:${action}`, resource: arn(`function:${decodeURIComponent(name)}`) }]
    }
    case 'cloudformation': {
      const { Action, StackName } = parametersOf(request)
      const [, stackName] = /:stack\/([^/]+)/.exec(StackName ?? '') ?? [undefined, StackName]
      const resource = Action === 'ValidateTemplate' ? '*' : arn(`stack/${stackName}/0aaaaaaa-1111`)
      return [{ action: `cloudformation:${Action}`, resource }]
    }
    case 'sns': {
      const { Action, TopicArn = '*' } = parametersOf(request)
      return [{ action: `sns:${Action}`, resource: TopicArn }]
    }
    case 'events': {
      const { EventBusName: bus, Name, Rule = Name } = JSON.parse(body)
      const resource = bus === undefined ? `event-bus/${Name}` : `rule/${bus}/${Rule}`
      return [{ action: `events:${targetOf(headers)}`, resource: arn(resource) }]
    }
    case 'sqs': {
      const { QueueUrl, QueueName = basename(QueueUrl) } = JSON.parse(body)
      return [{ action: `sqs:${targetOf(headers)}`, resource: arn(QueueName) }]
    }
    case 'tagging':
      return [{ action: `tag:${targetOf(headers)}`, resource: '*' }]
    case 'ecr':
      return [{ action: `ecr:${targetOf(headers)}`, resource: arn('repository') }]
    case 'sts':
    case 'monitoring': {
      const Action = /\/operation\/(\w+)/.exec(url)?.[1] ?? parametersOf(request).Action ?? targetOf(headers)
      return [{ action: `${PREFIXES[service] ?? service}:${Action}`, resource: '*' }]
    }
  }
  throw new Error(
    `no permission is known for ${service} ${method} ${url}: add it to test/support/machine/mock-account/identities.ts`,
  )
}

const targetOf = (headers: IncomingHttpHeaders) => `${headers['x-amz-target']}`.split('.').at(-1)
const parametersOf = ({ body }: ApiRequest): Partial<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(body))

/** DynamoDB developer guide, "Restoring a table to a point in time": it writes the new table by the caller's rights. */
function accessesOfRestore(
  { SourceTableName, TargetTableName }: { SourceTableName: string; TargetTableName: string },
  arn: (rest: string) => string,
): Access[] {
  const actions = 'RestoreTableToPointInTime BatchWriteItem DeleteItem GetItem PutItem Query Scan UpdateItem'.split(' ')
  return [
    { action: 'dynamodb:RestoreTableToPointInTime', resource: arn(`table/${SourceTableName}`) },
    ...actions.map((action) => ({ action: `dynamodb:${action}`, resource: arn(`table/${TargetTableName}`) })),
  ]
}

/** Partition keys by the end of a table's name; those of all others are by workspace. */
const PARTITION_KEYS = { keys: 'owner_hash', 'rate-limits': 'key_id' }

/** DynamoDB developer guide, "Using IAM policy conditions": the partition keys that a request names; a scan names none. */
function leadingKeys(request: {
  TableName?: string
  Key?: Record<string, { S?: string }>
  Item?: Record<string, { S?: string }>
  KeyConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, { S?: string }>
}): NonNullable<Access['context']> {
  const key = request.Key ?? request.Item
  const [, name = '', value = ''] = /([#\w]+)\s*=\s*(:\w+)/.exec(request.KeyConditionExpression ?? '') ?? []
  const asked = { [request.ExpressionAttributeNames?.[name] ?? name]: request.ExpressionAttributeValues?.[value] }
  const [, partitionKey = 'workspace_id'] =
    Object.entries(PARTITION_KEYS).find(([table]) => request.TableName?.endsWith(`-${table}`)) ?? []
  const named = (key ?? asked)[partitionKey]?.S
  return named === undefined ? {} : { 'dynamodb:LeadingKeys': [named] }
}

/** Where a request has the template that CloudFormation is to apply: in itself, or in an object (/BUCKET/KEY). */
export function templateIn(request: ApiRequest): { body: string } | { object: string } | undefined {
  const { StackName, TemplateBody, TemplateURL } = parametersOf(request)
  if (signerOf(request).service !== 'cloudformation' || !StackName) return undefined
  if (TemplateBody) return { body: TemplateBody }
  return TemplateURL ? { object: new URL(TemplateURL).pathname } : undefined
}

/** The permissions that CloudFormation needs for a template: it uses the rights of whoever gave it. */
export function accessesOfTemplate(text: string, request: ApiRequest): Access[] {
  const { Resources } = JSON.parse(text) as { Resources: Record<string, Resource> }
  const place: StackPlace = {
    stackName: parametersOf(request).StackName?.replace(/^.*:stack\/([^/]+).*$/, '$1') ?? '',
    account: MOCK_ACCOUNT,
    region: signerOf(request).region,
  }
  return accessesOfStack(Resources, place)
}
