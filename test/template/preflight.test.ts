import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { examineAccount } from '../../infra/deploy/preflight.ts'
import { CALLER, useServers } from '../support/stores/aws-endpoints.ts'

const STACK = 'container-file-promotion-prod'
const DEPLOYMENT = {
  stackName: STACK,
  settings: { auditShards: '8', documentsTable: 'kept' },
  tables: [
    { parameter: 'keysTable', name: 'prod-keys', indexes: [] },
    { parameter: 'documentsTable', name: 'kept', indexes: ['documents-by-creation'] },
  ],
}
const KEPT = { TableName: 'kept', GlobalSecondaryIndexes: [{ IndexName: 'documents-by-creation' }] }
const MISSING_STACK =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>'

const stackOf = (resources: Record<string, string>) => {
  const members = Object.entries(resources).map(
    ([id, name]) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${name}</PhysicalResourceId><ResourceType>x</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`,
  )
  return `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`
}

/** What the account has; undefined: these credentials may not ask. */
let account: {
  role?: string
  tables?: object[]
  limit?: number
  unreserved?: number
  reserved?: number
  ofStack?: Record<string, string>
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
beforeEach(() => {
  account = { role: 'arn:aws:iam::111122223333:role/logs', tables: [KEPT] }
})

const examine = (settings: Record<string, string> = {}, stackName = STACK) =>
  examineAccount({ ...DEPLOYMENT, stackName, settings: { ...DEPLOYMENT.settings, ...settings } })
const problems = async (...of: Parameters<typeof examine>) => (await examine(...of)).problems

describe('before a deployment, the account', () => {
  it('is fine with a role for gateway logs, no table of a new one’s name, and the existing ones complete', async () => {
    expect(await examine()).toEqual({ problems: [], warnings: [] })
  })

  it('has no role for gateway logs', async () => {
    account = { tables: [KEPT] }
    expect(await problems()).toEqual([expect.stringContaining('add --param createGatewayLogRole=true')])
    expect(await problems({ createGatewayLogRole: 'true' })).toEqual([])
  })

  it('has one already, and another is asked for', async () => {
    expect(await problems({ createGatewayLogRole: 'true' })).toEqual([expect.stringContaining('leave it out')])
  })

  it('has one that this stack has made, in a first deployment that failed, whatever CloudFormation has cut of its name', async () => {
    for (const letters of [1, 11, 12, 24]) {
      const stackName = `container-file-promotion-${'s'.repeat(letters)}`
      const role = `arn:aws:iam::111122223333:role/team/${stackName.slice(0, 36)}-GatewayLogRole-AbC123dEf456`
      account = { role, tables: [KEPT] }
      expect(await problems({ createGatewayLogRole: 'true' }, stackName), stackName).toEqual([])
    }
  })

  it('runs too few functions at once for the reservation, counting the one that there is', async () => {
    account = { ...account, limit: 1000, unreserved: 140 }
    expect(await problems({ reservedConcurrency: '40' })).toEqual([])
    expect(await problems({ reservedConcurrency: '41' })).toEqual([
      expect.stringMatching(/^reservedConcurrency is 41, which leaves 99 of the account's 1000 .* Lambda keeps 100/),
    ])
    account.reserved = 30
    expect(await problems({ reservedConcurrency: '70' })).toEqual([])
    account = { ...account, limit: 10, unreserved: 10, reserved: 0 }
    expect(await problems({ reservedConcurrency: '1', auditShards: '1' })).toEqual([
      expect.stringContaining('leaves 9 of the account'),
    ])
  })

  it('runs too few at once for the audit and the resolver: a warning, with what to set', async () => {
    account = { ...account, limit: 10, unreserved: 10 }
    expect(await examine()).toEqual({
      problems: [],
      warnings: [expect.stringMatching(/^10 functions may run at once .* or set auditShards=1$/)],
    })
    expect((await examine({ auditShards: '1' })).warnings).toEqual([])
  })

  it('has a table that would be made', async () => {
    account.tables?.push({ TableName: 'prod-keys' })
    account.ofStack = { KeysTable: 'prod-keys' }
    expect(await problems(), 'of this stack').toEqual([])
    delete account.ofStack
    expect(await problems()).toEqual([expect.stringContaining('keep using it with keysTable=prod-keys, or delete it')])
  })

  it('lacks an existing table, or the index of one', async () => {
    account.tables = []
    expect(await problems()).toEqual(['documentsTable is "kept": there is no such table'])
    account.tables = [{ TableName: 'kept' }]
    expect(await problems()).toEqual([expect.stringContaining('it has no index documents-by-creation')])
  })

  it('may not be looked at: a warning, and the deployment goes on', async () => {
    account = { role: 'arn:aws:iam::111122223333:role/logs' }
    expect(await examine()).toEqual({
      problems: [],
      warnings: [expect.stringContaining('dynamodb:DescribeTable')],
    })
  })
})
