import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import PromotionDeployment from '../../infra/deploy/plugin.ts'
import { examineAccount } from '../../infra/deploy/preflight.ts'
import { withEnvironment } from '../support/machine/own-environment.ts'
import { CALLER, useServers } from '../support/stores/aws-endpoints.ts'

const STACK = 'container-file-promotion-prod'
const INDEXES = ['documents-by-creation', 'expiries']
const DEPLOYMENT = {
  stackName: STACK,
  settings: { auditShards: '8', documentsTable: 'kept' },
  tables: [
    { parameter: 'keysTable', name: 'prod-keys', indexes: [] },
    { parameter: 'documentsTable', name: 'kept', indexes: INDEXES },
  ],
}
const indexed = (...statuses: string[]) => ({
  TableName: 'kept',
  GlobalSecondaryIndexes: statuses.map((IndexStatus, at) => ({ IndexName: INDEXES[at], IndexStatus })),
})
const KEPT = indexed('ACTIVE', 'ACTIVE')
const MISSING_STACK =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>'

const stackOf = (resources: Record<string, string>) => {
  const members = Object.entries(resources).map(
    ([id, name]) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${name}</PhysicalResourceId><ResourceType>x</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`,
  )
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`
}

const encryptionWith = (key: string) =>
  `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>x</SSEAlgorithm><KMSMasterKeyID>${key}</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`

/** The resources of the account; undefined: these credentials may not ask. */
let account: {
  role: string | undefined
  tables: object[] | undefined
  limit?: number
  unreserved?: number
  reserved?: number
  ofStack?: Record<string, string>
  /** The encryption key of its documents bucket. */
  key?: string
}

const serve = useServers()
beforeAll(async () => {
  const endpoint = await serve(async (asked, answered) => {
    const isDynamoDb = asked.headers['x-amz-target'] !== undefined
    const say = (status: number, body: object | string, type = 'application/json') =>
      answered.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))
    if (asked.url?.endsWith('/account-settings')) {
      const { limit: ConcurrentExecutions = 1000, unreserved: UnreservedConcurrentExecutions = 1000 } = account
      return say(200, { AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } })
    }
    if (asked.url?.endsWith('/concurrency')) {
      if (account.reserved !== undefined) return say(200, { ReservedConcurrentExecutions: account.reserved })
      answered.setHeader('x-amzn-errortype', 'ResourceNotFoundException')
      return say(404, { Message: 'Function not found' })
    }
    if (asked.url?.includes('?encryption')) return say(200, encryptionWith(account.key ?? ''), 'text/xml')
    if (String(asked.headers['x-amz-target']).startsWith('AWSEvents')) {
      const { Name } = (await json(asked)) as { Name: string }
      if (Name === 'denied') return say(400, { __type: 'AccessDeniedException', message: 'no' })
      if (Name === 'badly signed') return say(403, { __type: 'InvalidSignatureException', message: 'does not match' })
      return Name === 'files' ? say(200, { Name }) : say(400, { __type: 'ResourceNotFoundException', message: 'none' })
    }
    if (!isDynamoDb && asked.method === 'GET') return say(200, { cloudwatchRoleArn: account.role })
    if (!isDynamoDb && account.ofStack) return say(200, stackOf(account.ofStack), 'text/xml')
    if (!isDynamoDb) return say(400, MISSING_STACK, 'text/xml')
    if (account.tables === undefined) return say(400, { __type: 'AccessDeniedException', message: 'no' })
    const { TableName } = (await json(asked)) as { TableName: string }
    const table = account.tables.find((each) => 'TableName' in each && each.TableName === TableName)
    return table ? say(200, { Table: table }) : say(400, { __type: 'ResourceNotFoundException', message: 'none' })
  })
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint)
  // Which would come before it.
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined)
  for (const [name, value] of Object.entries(CALLER)) vi.stubEnv(name, value)
})
afterAll(() => vi.unstubAllEnvs())
const ROLE = 'arn:aws:iam::111122223333:role/logs'
const examine = (has: Partial<typeof account>, settings: Record<string, string> = {}, stackName = STACK) => {
  account = { role: ROLE, tables: [KEPT], ...has }
  return examineAccount({ ...DEPLOYMENT, stackName, settings: { ...DEPLOYMENT.settings, ...settings } })
}
const LEAVES_99 =
  "reservedConcurrency is 41, which leaves 99 of the account's 1000 concurrent executions unreserved, and Lambda keeps 100"
const TOO_FEW = { limit: 10, unreserved: 10 }
const [OWN_ROLE, WITHOUT_OWN] = [{ createGatewayLogRole: 'true' }, { role: undefined }]
const ENCRYPTED = { ofStack: { DocumentsBucket: 'docs' }, key: 'b' }
const SHARED = { ofStack: { SandboxBucket: 'boxes' } }
const IN_SANDBOXES = {
  documentsBucket: 'boxes',
  sandboxKeyTemplate: '{workspace_id}/boxes/{container_id}/{path}',
  documentKeyTemplate: 'docs/{workspace_id}/{document_id}/{attempt_id}',
}
const STREAMED = { tables: [{ ...KEPT, LatestStreamArn: 'arn:1' }] }
const MADE = { tables: [KEPT, { TableName: 'prod-keys' }] }

describe('before a deployment, the account', () => {
  it.each<[what: string, has: Partial<typeof account>, settings: Record<string, string>, problem?: string]>([
    ['is fine with a role for gateway logs, no table of a new one’s name, and the existing ones complete', {}, {}],
    ['has no role for gateway logs', WITHOUT_OWN, {}, 'add --param createGatewayLogRole=true'],
    ['has no role for gateway logs, which is made', WITHOUT_OWN, OWN_ROLE],
    ['has one already, and another is asked for', {}, OWN_ROLE, 'leave it out'],
    ['runs just enough functions for the reservation', { unreserved: 140 }, { reservedConcurrency: '40' }],
    ['runs too few', { unreserved: 140 }, { reservedConcurrency: '41' }, LEAVES_99],
    ['has the reservation already', { unreserved: 140, reserved: 30 }, { reservedConcurrency: '70' }],
    ['can reserve none', { ...TOO_FEW, reserved: 0 }, { reservedConcurrency: '1' }, 'leaves 9 of the account'],
    ['has a table that would be made', MADE, {}, 'keep using it with keysTable=prod-keys, or delete it'],
    ['has such a table, of this stack', { ...MADE, ofStack: { KeysTable: 'prod-keys' } }, {}],
    ['has a bucket of this stack with a key that no setting names', ENCRYPTED, {}, 'add it to formerKmsKeyArns'],
    ['has one with a former key', ENCRYPTED, { formerKmsKeyArns: 'a,b' }],
    ['has one with the key that stays', ENCRYPTED, { documentsKmsKeyArn: 'b' }],
    ['has its documents where sandboxes expire', SHARED, IN_SANDBOXES, 'documents would expire after sandboxDays'],
    ['has them there, and keeps that bucket', SHARED, { ...IN_SANDBOXES, sandboxBucket: 'boxes' }, 'would expire'],
    ['has them there by keys that begin otherwise', SHARED, { ...IN_SANDBOXES, sandboxKeyTemplate: 'boxes/{path}' }],
    ['has them in a bucket of its own', SHARED, { ...IN_SANDBOXES, documentsBucket: 'docs' }],
    ['has the bus', {}, { eventBus: 'files' }],
    ['lacks the bus', {}, { eventBus: 'gone' }, 'eventBus is "gone": there is no such bus in this account'],
    ['has a table with that stream', STREAMED, { documentsStreamArn: 'arn:1' }],
    ['has one with another', STREAMED, { documentsStreamArn: 'arn:2' }, 'is "arn:2": kept has arn:1'],
    ['has one with none', {}, { documentsStreamArn: 'arn:2' }, 'documentsStreamArn is "arn:2": kept has none'],
    ['lacks an existing table', { tables: [] }, {}, 'documentsTable is "kept": there is no such table'],
    ['lacks an index of one', { tables: [indexed('ACTIVE')] }, {}, 'index expiries is missing (docs/deploy.md, "Index'],
    ['is making one', { tables: [indexed('ACTIVE', 'CREATING')] }, {}, 'its index expiries is CREATING (docs'],
  ])('%s', async (_, has, settings, problem) => {
    const problems = problem === undefined ? [] : [expect.stringContaining(problem)]
    expect(await examine(has, settings)).toEqual({ problems, warnings: [] })
  })

  it('has a role that this stack has made, in a first deployment that failed, whatever CloudFormation has cut of its name', async () => {
    for (const letters of [1, 11, 12, 24]) {
      const stackName = `container-file-promotion-${'s'.repeat(letters)}`
      const role = `arn:aws:iam::111122223333:role/team/${stackName.slice(0, 36)}-GatewayLogRole-AbC123dEf456`
      expect((await examine({ role }, OWN_ROLE, stackName)).problems, stackName).toEqual([])
    }
  })

  it.each<[what: string, has: Partial<typeof account>, settings: Record<string, string>, warnings: RegExp[]]>([
    ['runs too few', { unreserved: 31 }, {}, [/^31 functions .* the resolver \(8 runs\) .*, or set auditShards=7$/]],
    ['runs far too few', TOO_FEW, { auditShards: '1' }, [/^10 functions .* quota "Concurrent executions"$/]],
    ['runs enough for what is set', { unreserved: 31 }, { auditShards: '7' }, []],
    ['may not be asked for the bus', {}, { eventBus: 'denied' }, [/events:DescribeEventBus/]],
    ['may not be looked at, and the deployment goes on', { tables: undefined }, {}, [/dynamodb:DescribeTable/]],
  ])('%s: a warning at most, with what to set', async (_, has, settings, warnings) => {
    const expected = warnings.map((warning) => expect.stringMatching(warning))
    expect(await examine(has, settings)).toEqual({ problems: [], warnings: expected })
  })

  it('is not looked at with credentials that AWS does not accept: that is no right that they lack', async () => {
    await expect(examine({}, { eventBus: 'badly signed' })).rejects.toThrow('does not match')
  })

  it('is not looked at without credentials, and the deployment says which to set', async () => {
    const provider = { getStage: () => 'prod', getRegion: () => 'eu-west-1', naming: { getStackName: () => STACK } }
    const service = { service: STACK, provider: {}, custom: { settings: {} }, resources: { Resources: {} } }
    const framework = { service, getProvider: () => provider, classes: { Error } } as never
    const deploying = new PromotionDeployment(framework, {}).hooks['before:deploy:deploy']
    await expect(
      withEnvironment({ HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' }, () => deploying?.()),
    ).rejects.toThrow(/^There are no usable AWS credentials: set AWS_PROFILE .*\nNothing was deployed\.$/)
  })
})
