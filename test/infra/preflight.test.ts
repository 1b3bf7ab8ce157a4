import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { examineAccount, type Intention } from '../../infra/deploy/preflight.ts'

const INTENTION: Intention = {
  stackName: 'container-file-promotion-prod',
  createsGatewayLogRole: false,
  newTables: [{ parameter: 'keysTable', name: 'prod-keys' }],
  existingTables: [{ parameter: 'documentsTable', name: 'kept', indexes: ['documents-by-creation'] }],
}
const KEPT = { TableName: 'kept', GlobalSecondaryIndexes: [{ IndexName: 'documents-by-creation' }] }
const MISSING_STACK =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id x does not exist</Message></Error></ErrorResponse>'

/** What the account has; undefined: these credentials may not ask. */
let account: { role?: string; tables?: object[] }
let server: Server

beforeAll(async () => {
  server = createServer(async (asked, answered) => {
    const isDynamoDb = asked.headers['x-amz-target'] !== undefined
    const say = (status: number, body: object | string, type = 'application/json') =>
      answered.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))
    if (!isDynamoDb && asked.method === 'GET') return say(200, { cloudwatchRoleArn: account.role })
    if (!isDynamoDb) return say(400, MISSING_STACK, 'text/xml')
    if (account.tables === undefined) return say(400, { __type: 'AccessDeniedException', message: 'no' })
    const { TableName } = (await json(asked)) as { TableName: string }
    const table = account.tables.find((each) => 'TableName' in each && each.TableName === TableName)
    return table ? say(200, { Table: table }) : say(400, { __type: 'ResourceNotFoundException', message: 'none' })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  // Which would come before it.
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', undefined)
  vi.stubEnv('AWS_REGION', 'eu-west-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
})
afterAll(() => {
  vi.unstubAllEnvs()
  server.close()
})
beforeEach(() => {
  account = { role: 'arn:aws:iam::111122223333:role/logs', tables: [KEPT] }
})

const problems = async (changes: Partial<Intention> = {}) =>
  (await examineAccount({ ...INTENTION, ...changes })).problems

describe('before a deployment, the account', () => {
  it('is fine with a role for gateway logs, no table of a new one’s name, and the existing ones complete', async () => {
    expect(await examineAccount(INTENTION)).toEqual({ problems: [], warnings: [] })
  })

  it('has no role for gateway logs', async () => {
    account = { tables: [KEPT] }
    expect(await problems()).toEqual([expect.stringContaining('add --param createGatewayLogRole=true')])
    expect(await problems({ createsGatewayLogRole: true })).toEqual([])
  })

  it('has one already, and another is asked for', async () => {
    expect(await problems({ createsGatewayLogRole: true })).toEqual([expect.stringContaining('leave it out')])
  })

  it('has a table that would be made', async () => {
    account.tables?.push({ TableName: 'prod-keys' })
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
    expect(await examineAccount(INTENTION)).toEqual({
      problems: [],
      warnings: [expect.stringContaining('dynamodb:DescribeTable')],
    })
  })
})
