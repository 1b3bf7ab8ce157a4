import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormationClient, DescribeStacksCommand, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient, ListRulesCommand } from '@aws-sdk/client-eventbridge'
import {
  GetAliasCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda'
import { GetBucketPolicyCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { jsonLines, runAdmin } from '../support/admin-process.ts'
import { type DeployedApi, serveDeployed } from '../support/mock-account/deployed-api.ts'
import { isMotoInstalled, type MockAccount, startMockAccount } from '../support/mock-account/start.ts'
import { copyProject, serverless } from '../support/packages.ts'

const STACK = 'container-file-promotion-prod'
const FUNCTION = `${STACK}-promote-container-file`
const REGION = 'eu-west-1'
const MINUTES_MS = 60_000

const isInstalled = isMotoInstalled()
if (!isInstalled)
  console.warn(
    "moto is not installed (pip install 'moto[server]'), so test/e2e/mock-account.test.ts checks nothing here",
  )
vi.setConfig({ testTimeout: 8 * MINUTES_MS, hookTimeout: 5 * MINUTES_MS })

// One story, from nothing to the return of what was kept: each test goes on where the one before it has ended.
describe.runIf(isInstalled)('a stage in an account, from its first deployment to its return', () => {
  let directory: string
  let project: string
  let account: MockAccount
  const apis: DeployedApi[] = []

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'promotion-account-'))
    project = join(directory, 'project')
    await copyProject(project, ['infra', 'lib', 'dist'])
    await mkdir(join(project, 'settings'))
    account = await startMockAccount(directory, REGION)
    for (const [name, value] of Object.entries(account.environment)) vi.stubEnv(name, value)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await Promise.all(apis.map((api) => api.stop()))
    account.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const settings = (more: Record<string, string> = {}) => {
    const own = { region: REGION, alarmEmail: 'ops@example.com', createGatewayLogRole: 'true', ...more }
    return writeFile(join(project, 'settings/prod.yml'), JSON.stringify(own))
  }
  /** What it printed, and whether it succeeded. */
  async function framework(...args: string[]): Promise<{ isDone: boolean; output: string }> {
    const { AWS_REGION: _, ...environment } = account.environment
    // The settings alone say where.
    const env = { ...environment, AWS_REGION: '', PROMOTION_BUILD: 'skip' }
    const outcome = await serverless([...args, '--stage', 'prod'], project, env).catch((error) => error)
    return { isDone: !(outcome instanceof Error), output: `${outcome.stdout}${outcome.stderr}` }
  }
  const deploy = (...args: string[]) => framework('deploy', ...args)
  const admin = (...args: string[]) => runAdmin(['--stage', 'prod', ...args], account.environment)
  const tables = async () => (await new DynamoDBClient({}).send(new ListTablesCommand({}))).TableNames ?? []
  const stack = async () => {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: STACK }))
    return Stacks?.[0]
  }
  const liveVersion = async () => {
    const command = new GetAliasCommand({ FunctionName: FUNCTION, Name: 'live' })
    return (await new LambdaClient({}).send(command)).FunctionVersion
  }
  const environmentOfFunction = async () => {
    const command = new GetFunctionConfigurationCommand({ FunctionName: FUNCTION })
    return (await new LambdaClient({}).send(command)).Environment?.Variables ?? {}
  }
  async function smoke() {
    const api = await serveDeployed(STACK, account, join(directory, `tasks-${apis.length}`))
    apis.push(api)
    const result = await admin('smoke', '--json', '--no-telemetry', '--base-url', api.baseUrl)
    return { ...result, faults: jsonLines(result).filter(({ verdict }) => verdict === 'fault') }
  }

  it('refuses an account without a role for gateway logs, before anything is there', async () => {
    await settings({ createGatewayLogRole: 'false' })
    const { isDone, output } = await deploy()
    expect(isDone).toBe(false)
    expect(output).toContain('add --param createGatewayLogRole=true, once for all stages')
    await expect(stack()).rejects.toThrow(/does not exist/)
  })

  it('leaves no table behind when the first deployment fails, and succeeds the second time', async () => {
    await settings()
    await account.failOn('Dashboard')
    expect((await deploy()).isDone).toBe(false)
    expect(await tables()).toEqual([])
    await account.failOn()
    const { isDone, output } = await deploy()
    expect([isDone, output]).toEqual([true, expect.stringContaining('Service deployed to stack')])
  })

  it('protects the stack and its tables', async () => {
    expect((await stack())?.EnableTerminationProtection).toBe(true)
    const names = await tables()
    expect(names).toContain(`${STACK}-keys`)
    for (const TableName of names) {
      const { Table } = await new DynamoDBClient({}).send(new DescribeTableCommand({ TableName }))
      expect(Table?.DeletionProtectionEnabled, TableName).toBe(true)
    }
  })

  it('changes nothing by a deployment without a change', async () => {
    const { isDone, output } = await deploy()
    expect([isDone, output]).toEqual([true, expect.stringContaining('No changes to deploy')])
  })

  it('makes no second role for gateway logs, nor takes the first away', async () => {
    await settings({ createGatewayLogRole: 'false' })
    expect((await deploy()).isDone).toBe(true)
    const { StackResourceSummaries = [] } = await new CloudFormationClient({}).send(
      new ListStackResourcesCommand({ StackName: STACK }),
    )
    expect(StackResourceSummaries.map(({ LogicalResourceId }) => LogicalResourceId)).not.toContain('GatewayLogRole')
  })

  it('is administered, and serves by the zips that were uploaded', async () => {
    expect(await admin('workspaces', 'create', 'ws_kept', '--quota', '5MiB')).toMatchObject({ code: 0, stderr: '' })
    const { code, faults } = await smoke()
    expect([code, faults]).toEqual([0, []])
  })

  it('is seen to be protected, and private, by doctor', async () => {
    const checks = jsonLines(await admin('doctor', '--json'))
    const verdictOf = (name: RegExp) =>
      checks.filter(({ check }) => name.test(`${check}`)).map(({ verdict }) => verdict)
    expect(verdictOf(/^stack /)).toEqual(['ok'])
    expect(verdictOf(/^deletion protection of /)).toEqual(['ok', 'ok', 'ok'])
    expect(verdictOf(/^TLS only to /)).toEqual(['ok', 'ok'])
  })

  it('is rolled back when an upgrade fails, and takes the same upgrade afterwards', async () => {
    const before = await liveVersion()
    const upgrade = ['--param', 'leaseMs=90000', '--param', `webAclArn=${webAcl}`]
    await account.failOn('WebAclAssociation')
    expect((await deploy(...upgrade)).isDone).toBe(false)
    expect([(await stack())?.StackStatus, await liveVersion()]).toEqual(['UPDATE_ROLLBACK_COMPLETE', before])
    await account.failOn()
    expect((await deploy(...upgrade)).isDone).toBe(true)
    expect((await environmentOfFunction()).LEASE_MS).toBe('90000')
    expect(Number(await liveVersion())).toBeGreaterThan(Number(before))
  })
  const webAcl = `arn:aws:wafv2:${REGION}:111122223333:regional/webacl/main/0aaaaaaa-1111-2222-3333-444444444444`

  it('goes back to a former deployment', async () => {
    const { output } = await framework('deploy', 'list')
    const [timestamp = ''] = [...output.matchAll(/Timestamp: (\d+)/g)].map(([, time]) => time)
    expect((await framework('rollback', '--timestamp', timestamp)).isDone).toBe(true)
    expect((await environmentOfFunction()).LEASE_MS).toBe('120000')
  })

  it('stops, and is resumed as it was deployed', async () => {
    const state = async () => {
      const { Rules = [] } = await new EventBridgeClient({}).send(new ListRulesCommand({}))
      const command = new GetFunctionConcurrencyCommand({ FunctionName: FUNCTION })
      const { ReservedConcurrentExecutions: reserved } = await new LambdaClient({}).send(command)
      return { reserved, schedules: [...new Set(Rules.map(({ State }) => State))] }
    }
    expect(await state()).toEqual({ reserved: undefined, schedules: ['ENABLED'] })
    expect((await admin('stop')).stderr).toContain('--yes')
    expect((await admin('stop', '--yes')).code).toBe(0)
    expect(await state()).toEqual({ reserved: 0, schedules: ['DISABLED'] })
    expect((await admin('resume')).code).toBe(0)
    expect(await state()).toEqual({ reserved: undefined, schedules: ['ENABLED'] })
  })

  it('is not removed while it is protected', async () => {
    expect(await framework('remove')).toMatchObject({ isDone: false, output: expect.stringContaining('protect') })
    expect((await stack())?.StackStatus).toMatch(/_COMPLETE$/)
  })

  it('keeps tables and buckets when it is removed, and the buckets their policies', async () => {
    expect((await deploy('--param', 'deletionProtection=false')).isDone).toBe(true)
    expect((await framework('remove')).isDone).toBe(true)
    expect(await tables()).toContain(`${STACK}-documents`)
    expect(await keptBuckets()).toHaveLength(2)
    for (const Bucket of await keptBuckets()) {
      const { Policy = '' } = await new S3Client({ forcePathStyle: true }).send(new GetBucketPolicyCommand({ Bucket }))
      expect(Policy).toContain('aws:SecureTransport')
    }
  })

  it('says how to return, instead of failing half way', async () => {
    const { isDone, output } = await deploy()
    expect(isDone).toBe(false)
    expect(output).toContain(`bring it along with keysTable=${STACK}-keys`)
  })

  it('returns to what was kept', async () => {
    const broughtAlong = Object.fromEntries(
      (await tables()).map((name) => {
        const kind = name.slice(STACK.length + 1).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
        return [`${kind}Table`, name]
      }),
    )
    const [sandboxBucket = '', documentsBucket = ''] = (await keptBuckets()).toSorted().toReversed()
    await settings({ createGatewayLogRole: 'false', ...broughtAlong, sandboxBucket, documentsBucket })
    const { isDone, output } = await deploy()
    expect([isDone, output]).toEqual([true, expect.stringContaining('Service deployed to stack')])
    expect((await admin('workspaces', 'show', 'ws_kept')).stdout).toContain('5 MiB')
    const { code, faults } = await smoke()
    expect([code, faults]).toEqual([0, []])
  })

  async function keptBuckets(): Promise<string[]> {
    const { Buckets = [] } = await new S3Client({ forcePathStyle: true }).send(new ListBucketsCommand({}))
    return Buckets.map(({ Name = '' }) => Name).filter((name) => !name.includes('serverlessdeployment'))
  }
})
